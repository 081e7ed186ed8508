"""The warm start: imitation of a search."""
