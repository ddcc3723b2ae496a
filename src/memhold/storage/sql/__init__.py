"""What every store that speaks SQL shares: named blocks, the reads and writes of a transaction, rows and values."""
