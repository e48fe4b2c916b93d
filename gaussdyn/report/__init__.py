"""Pages and pictures of runs. The only floor that draws; its libraries come with the extra ``report``."""
