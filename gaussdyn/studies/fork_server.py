"""The process from which workers are forked: it imports what most runs need once, while others make the study ready."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

LOADED = (
    "gaussdyn.integrate.simulate",
    "gaussdyn.scenes.catalogue",
    "gaussdyn.integrate.time_stepping.core.advance",
    "gaussdyn.integrate.time_stepping.core.step",
    "gaussdyn.programs.enumeration.search_kernels",
    "gaussdyn.studies.worker_processes",
)


def context() -> Any:
    """Return how workers are started on this system."""
    if os.name != "posix":
        return multiprocessing.get_context("spawn")
    found: Any = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(list(LOADED))
    return found


def start_ahead() -> None:
    """Start the process now, so that it imports while this one does other work."""
    context()
    if os.name == "posix":
        from multiprocessing import forkserver

        forkserver.ensure_running()
