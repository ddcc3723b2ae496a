"""Benchmarks that anyone can run: ratios in one run, percentiles, and quality on data that the caller brings."""
