"""Mozaic, the game by Martin H. Samuel: rules, action ids, observation, records, heuristics, drawing."""
