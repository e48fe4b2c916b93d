"""Methods for problems of blocks (contacts with friction), and the door to them."""
