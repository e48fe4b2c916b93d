"""Mixed complementarity problems: equalities taken out by pivots, what remains solved as blocks, and proofs of none."""
