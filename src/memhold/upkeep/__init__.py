"""Work behind the acknowledgement: leases, what is due, and the one loop that does it. It has no step of its own."""
