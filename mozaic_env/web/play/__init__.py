"""The page to play in, and play in the terminal."""
