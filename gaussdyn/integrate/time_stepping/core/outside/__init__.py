"""What Python does around the kernels of a step: what it says of those taken, lists late contacts, takes hard ones."""
