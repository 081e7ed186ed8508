"""What users write: files, whole numbers, names that may be misspelt."""
