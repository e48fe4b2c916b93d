"""What a report needs before it can be written: the ending of its name, and the libraries that draw it.

Asked before any work is done, so that nobody waits for a result that cannot be written.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from ..errors import BackendMissing, InputError

Formats = Mapping[str, tuple[str, ...]]  # ending -> libraries

PAGES, PICTURES, MOVING = (".html", ".htm"), (".png", ".svg", ".pdf"), (".gif", ".mp4")
PICTURE: Formats = dict.fromkeys(PICTURES, ("matplotlib",))
MOVING_PICTURE: Formats = dict.fromkeys(MOVING, ("matplotlib",))
PAGE: Formats = dict.fromkeys(PAGES, ("matplotlib", "jinja2"))
PAGE_OR_PICTURE: Formats = {**PAGE, **PICTURE}
TREE_PAGE: Formats = dict.fromkeys(PAGES, ("jinja2",))
CHART_PAGE: Formats = dict.fromkeys(PAGES, ("plotly", "jinja2"))
RUN_REPORT: Formats = {**dict.fromkeys(PAGES, ("plotly", "jinja2", "matplotlib")), **PICTURE, **MOVING_PICTURE}


def check_format(name: str, path: Path, formats: Formats) -> None:
    """Refuse a report that could not be written in the end.

    Parameters
    ----------
    name : str
        What the path was given as, e.g. ``"--report"``.
    path : Path
        Its ending decides the format.
    formats : mapping of str to tuple of str
        Endings that are allowed, each with the libraries that it needs.

    Raises
    ------
    BackendMissing
        A library that the format needs is not installed, or does not load.
    InputError
        Another ending, or .mp4 without ffmpeg.
    """
    ending = path.suffix.lower()
    if ending not in formats:
        wanted = path.with_suffix(next(iter(formats))) if path.name else f"run{next(iter(formats))}"
        mend = f"E.g. {name} {wanted}" if name.startswith("--") else f'E.g. {name}="{wanted}".'
        raise InputError(name, path, f"a file ending in {', '.join(formats)}", mend)
    for library in formats[ending]:
        try:
            import_module(library)
        except ImportError:
            raise BackendMissing(library, "report") from None
    if ending == ".mp4" and shutil.which("ffmpeg") is None:
        mend = (
            "The program ffmpeg writes MP4 and is not on the PATH; install it, or write another: "
            f'path="{path.stem}.gif"'
        )
        others = ", ".join(one for one in formats if one != ending)
        raise InputError(name, path, f"a file ending in {others}; .mp4 where ffmpeg is installed", mend)
