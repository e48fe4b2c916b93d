"""Every future of a state whose motion is not unique."""
