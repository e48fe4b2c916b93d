"""``--view``: a run that is looked at while it is computed ends with its last film, and with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jinja2")

SAID = "live, until the run ends: "


def begun(*words: str) -> tuple[subprocess.Popen[str], str]:
    """Return a run that has begun, and the address of its view."""
    line = [sys.executable, "-m", "gaussdyn", "run", *words, "--view"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stderr is not None
    said = next(line for line in process.stderr if line.startswith(SAID))
    return process, said.removeprefix(SAID).strip()


def film(address: str, seen: int) -> dict[str, Any]:
    """Return the next film."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{address}film?seen={seen}", timeout=60) as answer:
        found: dict[str, Any] = json.load(answer) or film(address, seen)
    return found


def test_a_run_waits_until_its_end_is_seen() -> None:
    process, address = begun("incline", "--set", "mu=0.2", "--t-end", "0.05")
    found = film(address, 0)
    while not found["over"]:
        found = film(address, found["number"])
    out, err = process.communicate(timeout=60)
    assert found["said"] == "COMPLETED at t = 0.05 s"
    assert (process.returncode, err) == (0, "")
    assert "COMPLETED" in out


@pytest.mark.slow
def test_ctrl_c_ends_the_run_and_the_page_sees_it() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell has its tests ignore it
    process, address = begun("spinning_disc", "--t-end", "1000")
    signal.signal(signal.SIGINT, before)
    late = threading.Timer(120.0, process.kill)  # so that it fails where the key is not heard, and does not wait
    late.start()
    found = film(address, film(address, 0)["number"])
    process.send_signal(signal.SIGINT)
    while not found["over"]:
        found = film(address, found["number"])
    out, _ = process.communicate(timeout=60)
    late.cancel()
    assert process.returncode == 3
    assert found["said"].startswith("STOPPED")
    assert "KeyboardInterrupt" in out


def test_a_robot_without_a_run_has_nothing_to_view(cli: Callable[..., Any]) -> None:
    answer = cli("robot", "examples/quadruped.xml", "--view")
    assert answer.code == 2
    assert "--run 2" in answer.err
