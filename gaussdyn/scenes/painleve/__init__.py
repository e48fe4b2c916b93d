"""Rods and sliders whose contact may have no motion, or several."""
