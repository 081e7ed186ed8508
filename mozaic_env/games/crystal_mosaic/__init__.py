"""Crystal Mosaic, for two to four players: rules, action ids, observation, records, heuristics, drawing."""
