"""Judged by what was measured: tosses of a cube, impacts of an ellipse, and runs of ADAMS of joints."""
