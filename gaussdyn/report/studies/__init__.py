"""Pages and pictures of studies: many runs on one page."""
