"""Pages to look at and play in, and the server that brings them to a browser."""
