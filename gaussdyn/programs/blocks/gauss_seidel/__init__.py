"""Block Gauss-Seidel."""
