"""What runs the suites, apart from them: a file beside them has the name of a framework."""
