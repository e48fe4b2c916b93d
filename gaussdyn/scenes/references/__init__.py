"""Closed-form motions that exact answers are taken from; no contact solver."""
