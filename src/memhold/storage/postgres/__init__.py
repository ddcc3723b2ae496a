"""The PostgreSQL store: one database, any number of processes on any number of machines."""
