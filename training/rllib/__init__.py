"""Self-play on RLlib: configuration, algorithm, saving, progress."""
