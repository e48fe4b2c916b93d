"""How many motions one contact or a few in space admit."""
