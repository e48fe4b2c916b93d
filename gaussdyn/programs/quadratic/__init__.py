"""Methods for Gauss programs (quadratic, convex), and the door to them."""
