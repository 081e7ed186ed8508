"""Any game as a Gymnasium environment, single and vector."""
