"""The words index and the vectors of a scope, and the step that brings them up to date."""
