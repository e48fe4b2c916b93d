"""Makes the helper modules of this folder (small_systems) importable from every folder of tests; sets Hypothesis up.

The same examples are drawn in every run, so that it tells of the change and not of the draw: fewer of them in the fast
tests, all with HYPOTHESIS_PROFILE=thorough (see evidence). New ones are drawn with HYPOTHESIS_PROFILE=search.
With MENDS=asked every error that a test meets has to say what to write instead.
"""

import gc
import os

import pytest
from hypothesis import settings

from tests.mended import ask_for_mends

settings.register_profile("same", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("thorough", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
if os.environ.get("MENDS") == "asked":
    ask_for_mends()


def pytest_collection() -> None:
    """Look for no waste among modules and tests, which all stay: it took a fifth of the time to collect them."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From here on look for waste among what tests make only."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with studies, whose tests are the longest: none of them is left alone at the end."""
    items.sort(key=lambda item: "studies" not in item.path.parts)
