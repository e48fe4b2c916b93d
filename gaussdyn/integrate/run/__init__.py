"""What a run is asked, and what it leaves behind."""
