"""How far from perfect: regret, exploitability, solving a board."""
