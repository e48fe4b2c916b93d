"""Makes the helper modules of this folder (small_systems) importable from every folder of tests."""
