"""The colours of all pictures."""

from __future__ import annotations

# Okabe and Ito's colours, told apart by people who see no red or no green.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6b7a", "#8c6d1f")
OUTCOME_COLOURS = {
    "UNIQUE": "#56b4e9",
    "MULTIPLE": "#e69f00",
    "CONTINUUM": "#f0e442",
    "NONE": "#d55e00",
    "UNDECIDED": "#cc79a7",
    "NOT_EXAMINED": "#dfe4e9",
}
STILL = "#8c98a4"  # of obstacles
INK = "#1d2733"  # of words and axes
