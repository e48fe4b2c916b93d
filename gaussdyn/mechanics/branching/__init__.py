"""Configurations at which constraints lose rank: which branches of the configuration space meet there."""
