"""Reports: a folder with tables, results and pictures."""
