"""Solvers measured beside others."""
