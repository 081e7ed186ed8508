"""What produced the figures in the documentation, and what compares versions of the package."""
