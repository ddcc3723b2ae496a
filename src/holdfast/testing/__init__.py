"""What ships for tests: doubles of models, a model server that fails, and the suites that every store passes."""
