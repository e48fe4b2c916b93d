"""Ground floor: cones, factorizations, small dense kernels."""
