"""Exact linear programs, and the proofs that stand on them."""
