"""Every mode of a problem solved or refuted: how many solutions there are."""
