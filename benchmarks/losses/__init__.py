"""What is lost, doubled, stale or leaked when things go wrong: Memhold and its peers, each on its own."""
