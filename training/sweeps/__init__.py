"""The trials of a sweep."""
