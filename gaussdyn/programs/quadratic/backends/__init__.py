"""Libraries for quadratic and conic programs, one file each; only here are they imported."""
