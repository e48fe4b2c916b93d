"""How numbers are read off a run, to be compared with exact answers."""
