"""Linear functions over affine slices of products of cones: ranges, their proofs, exact polyhedra, circuits."""
