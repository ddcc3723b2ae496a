"""Models that are read from the package: no download, no service."""
