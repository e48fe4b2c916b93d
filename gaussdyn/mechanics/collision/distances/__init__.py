"""How far two shapes are apart, or how deep in each other: signed distances."""
