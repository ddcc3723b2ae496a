"""What people and programs talk to."""
