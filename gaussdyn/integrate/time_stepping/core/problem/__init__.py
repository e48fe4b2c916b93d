"""The contact problem of a step: put together from its rows, solved, and brought to rest."""
