"""A run that can be turned: its states packed small, and the script that draws them in space (WebGL)."""
