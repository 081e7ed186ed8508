"""Batches of games from decision to decision, compiled."""
