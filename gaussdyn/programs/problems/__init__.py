"""The problems as data, with no solver inside."""
