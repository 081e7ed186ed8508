"""The page on a training run."""
