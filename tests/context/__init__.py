"""What is built for a model: valid, within its budget, with a prefix that stays."""
