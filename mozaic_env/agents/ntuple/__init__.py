"""Trained linear functions of sparse features (n-tuple networks): tables on disk, and the agent that plays them."""
