"""What is tried where the quick methods do not get there."""
