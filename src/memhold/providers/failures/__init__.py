"""What a failed call means: providers' answers read, and classed by a table."""
