"""`mozaic bench`: how fast the environments are on this machine, and next to others."""
