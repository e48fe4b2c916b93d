"""The dual active set method of Goldfarb and Idnani, compiled."""
