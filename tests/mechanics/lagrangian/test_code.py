"""Generated source: written once, by content, and its machine code loaded by other processes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from gaussdyn import _cache, _jit
from gaussdyn.mechanics.lagrangian import code as lagrangian_program
from gaussdyn.mechanics.lagrangian import equations as lagrangian_equations

SOURCE = """
from math import sin

def evaluate(t, q, v, u, p, out):
    out[0] = t + p[0] * sin(q[0]) * v[0]
"""
CALL = """
import sys
import numpy as np
from gaussdyn import _jit
from gaussdyn.mechanics.lagrangian import LagrangianSystem
from sympy import Symbol
q, w = Symbol("q"), Symbol("w")
system = LagrangianSystem([q], velocities=[w], kinetic=w**2 * (1 + q**2) / 2, compile=True)
print(system.mass(np.array([3.0]))[0, 0], _jit.build_statistics()["compiled"])
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache directory of its own."""
    monkeypatch.setattr(_cache, "kernel_directory", lambda: tmp_path)
    return tmp_path


def test_a_source_is_written_once(place):
    asked = []

    def write():
        asked.append(1)
        return SOURCE

    path = _cache.stored_source("example", write)
    assert _cache.stored_source("example", write) == path
    assert path.read_text() == SOURCE
    assert len(asked) == 1
    assert [part.name for part in place.iterdir()] == ["example.py"]


def test_what_cannot_be_written_leaves_nothing(place):
    def fail():
        raise ValueError("no equations")

    with pytest.raises(ValueError, match="no equations"):
        _cache.stored_source("example", fail)
    assert list(place.iterdir()) == []


def test_a_source_is_compiled_and_interpreted_alike(place):
    path = _cache.stored_source("alike", lambda: SOURCE)
    t, q, v, u, p = 0.5, np.array([0.3]), np.array([2.0]), np.zeros(0), np.array([7.0])
    expected = 0.5 + 7.0 * np.sin(0.3) * 2.0
    for evaluate in (_jit.kernel_from(path, "evaluate", lagrangian_program.SIGNATURE),
                     lagrangian_program.interpreted(path)):  # fmt: skip
        out = np.zeros(1)
        evaluate(t, q, v, u, p, out)
        assert out[0] == pytest.approx(expected, rel=1e-15)


def test_what_python_refuses_is_nan_or_infinite_as_in_machine_code(place):
    said = ("1 / x", "log(x)", "abs(x ** (3 / 2))", "sin(1 / x)", "sqrt(x)", "x ** p[0]", "exp(800 * x)")
    lines = ["x = q[0]", *(f"out[{k}] = {one}" for k, one in enumerate(said))]
    text = (
        "from math import exp, log, sin, sqrt\n\ndef evaluate(t, q, v, u, p, out):\n    " + "\n    ".join(lines) + "\n"
    )
    path, none = _cache.stored_source("refused", lambda: text), np.zeros(0)
    compiled = _jit.kernel_from(path, "evaluate", lagrangian_program.SIGNATURE)
    for x in (0.0, -1.0, 2.0, np.inf, -np.inf, np.nan):
        ours, known = np.zeros(len(said)), np.zeros(len(said))
        for evaluate, out in ((lagrangian_program.interpreted(path), ours), (compiled, known)):
            evaluate(0.0, np.array([x]), none, none, np.array([0.3]), out)
        np.testing.assert_allclose(ours, known, rtol=1e-15, atol=0.0)


@pytest.mark.slow
def test_another_process_neither_derives_nor_compiles(tmp_path):
    env = {**os.environ, "GAUSSDYN_CACHE": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", CALL], env=env, capture_output=True, text=True, check=True, timeout=180)
        for _ in range(2)
    )
    assert first.stdout.split() == ["10.0", "1"]
    assert second.stdout.split() == ["10.0", "0"]
    (source,) = tmp_path.glob("kernels/lagrangian_dynamics_*.py")
    source.write_text(source.read_text().replace("out[0] = ", "out[0] = 5.0 * "))
    third = subprocess.run([sys.executable, "-c", CALL], env=env, capture_output=True, text=True, check=True)
    assert third.stdout.split() == ["50.0", "1"]  # what is in the cache is used, and compiled when it changed


def test_equations_are_derived_once(place, monkeypatch):
    from lagrangian_systems import pendulum

    times = []
    derive = lagrangian_equations.equations
    monkeypatch.setattr(lagrangian_equations, "equations", lambda model: times.append(1) or derive(model))
    for m in (1.0, 2.0):
        assert pendulum(m=m, L=1.0, compile=False).mass(np.zeros(1))[0, 0] == m
    assert len(times) == 1
