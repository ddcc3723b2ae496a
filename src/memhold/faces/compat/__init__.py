"""Other servers' interfaces, spoken over our verbs."""
