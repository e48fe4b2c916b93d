"""Pages and pictures of what is measured: the league of engines, runs beside recordings."""
