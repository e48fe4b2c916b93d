"""Mathematics: programs as data, methods as values, answers that audit themselves. Knows no mechanics."""
