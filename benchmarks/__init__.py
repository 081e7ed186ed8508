"""What produced the figures in docs/: scripts to run again, a file for each table or picture."""
