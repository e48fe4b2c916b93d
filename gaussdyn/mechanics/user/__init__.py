"""Systems from functions."""
