"""Agents that search: expectimax, paranoid and max^n, alpha-beta, MCTS."""
