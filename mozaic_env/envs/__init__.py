"""The ways in: one file for each toolkit."""
