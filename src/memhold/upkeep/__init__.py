"""Work behind the acknowledgement: leases, due work, backoff."""
