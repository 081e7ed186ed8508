"""Mosaic Chess, the 12 x 12 variant by Daniel Zacharias: rules, actions, notation, observation, heuristics, drawing."""
