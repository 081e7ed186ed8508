"""A run on disk: its folder, saving and resuming, budget, times."""
