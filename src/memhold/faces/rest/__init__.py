"""The REST face: each verb as a route, with the answers and the errors of the library."""
