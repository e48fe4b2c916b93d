"""One step of the theta scheme on a table of rows, compiled, for every kind of system."""
