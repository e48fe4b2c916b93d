"""Triangles as ground: meshes and height fields, and the contacts of all shapes with them."""
