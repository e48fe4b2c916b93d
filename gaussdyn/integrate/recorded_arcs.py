"""Smooth motion as a run keeps it: samples of places, velocities and reactions, from which it is judged.

An arc is one step of an integrator of high order. Its samples lie at the points of a quadrature rule, so that

    v(t + h) - v(t) = h sum b_i a_i,      q(t + h) - q(t) = h sum b_i qdot(q_i, v_i),      p = h sum b_i r_i

can be asked of what was recorded, with accelerations a_i that follow from the recorded reactions. Nobody needs to know
which method the integrator has: the rule is the one that is exact for all polynomials through the points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, overload

import numpy as np

from .._show import brief
from ..arrays import Array, stacked

_INNER = [0.5 * (1.0 / 3.0 + s * 2.0 * 7.0**0.5 / 21.0) ** 0.5 for s in (1.0, -1.0)]
LOBATTO = np.array([0.0, 0.5 - _INNER[0], 0.5 - _INNER[1], 0.5 + _INNER[1], 0.5 + _INNER[0], 1.0])  # order 10
Sampled = Callable[[float], tuple[Array, Array, Mapping[str, Array]]]
NUMBERS = ("arc_step", "arc_size")
SAMPLES = ("nodes", "q", "v", "springs")
FEW, OF_RULE = 4, 1e-13  # nodes that are of no rule but that of their number; what an integral may be off by


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arc:
    """One step of an integrator.

    Attributes
    ----------
    t, h : float
        Where it begins, and its length, s.
    nodes : Array, shape (n,)
        Where its samples are, from 0 at the beginning to 1 at the end.
    q, v : Array, shapes (n, nq), (n, nv)
    reactions : mapping of str to Array, shape (n, k)
        Of every row that may push in this arc, N, by id.
    modes : mapping of str to str
        stick, slip or active, of the same rows.
    springs : Array, shape (n, m)
        Stretched springs, m, where they stand for friction.
    """

    t: float
    h: float
    nodes: Array
    q: Array
    v: Array
    reactions: Mapping[str, Array]
    modes: Mapping[str, str]
    springs: Array

    __repr__ = brief

    @property
    def t_end(self) -> float:
        """End, s."""
        return self.t + self.h

    @property
    def times(self) -> Array:
        """Of the samples, s, shape (n,)."""
        return self.t + self.h * self.nodes

    @property
    def weights(self) -> Array:
        """Of an integral over the arc, s, shape (n,)."""
        return self.h * weights_of(tuple(self.nodes.tolist()))

    def impulses(self) -> dict[str, Array]:
        """Return the impulse of every row, N s."""
        return {key: self.weights @ r for key, r in self.reactions.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trail(Sequence[Arc]):
    """Steps of one phase, whose arcs are made when they are asked for.

    Attributes
    ----------
    t, h : Array, shape (n,)
        s.
    q, v, r : Array, shapes (n, s, nq), (n, s, nv), (n, s, m)
        At the s points of `LOBATTO`; r of all rows, one after another.
    pushes : mapping of str to slice
        Where the reactions of what may push stand in r.
    modes : mapping of str to str
    """

    t: Array
    h: Array
    q: Array
    v: Array
    r: Array
    pushes: Mapping[str, slice]
    modes: Mapping[str, str]

    __repr__ = brief

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.t)

    @overload
    def __getitem__(self, k: int) -> Arc: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Arc, ...]: ...
    def __getitem__(self, k: int | slice) -> Arc | tuple[Arc, ...]:
        """Return one arc, or several."""
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        reactions = {key: self.r[k, :, at] for key, at in self.pushes.items()}
        return Arc(
            t=float(self.t[k]), h=float(self.h[k]), nodes=LOBATTO, q=self.q[k], v=self.v[k], reactions=reactions,
            modes=self.modes, springs=np.zeros((len(LOBATTO), 0)),
        )  # fmt: skip

    def impulses(self) -> dict[str, Array]:
        """Return the impulse of every row over all steps, N s."""
        found = np.einsum("k,s,ksm->m", self.h, weights_of(tuple(LOBATTO.tolist())), self.r)
        return {key: found[at] for key, at in self.pushes.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Course(Sequence[Arc]):
    """The arcs of one trail after another."""

    trails: tuple[Sequence[Arc], ...]

    def __len__(self) -> int:
        """Return the number of arcs."""
        return sum(map(len, self.trails))

    def __iter__(self) -> Iterator[Arc]:
        """Go over all arcs."""
        return chain.from_iterable(self.trails)

    @overload
    def __getitem__(self, k: int) -> Arc: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Arc, ...]: ...
    def __getitem__(self, k: int | slice) -> Arc | tuple[Arc, ...]:
        """Return one arc, or several."""
        return tuple(self)[k]


@lru_cache(maxsize=64)
def weights_of(nodes: tuple[float, ...]) -> Array:
    """Return the weights of the rule that is exact for polynomials through the nodes, shape (n,).

    At points of Lobatto, Radau or Gauss, with the ends of the interval beside them or not, it is theirs.
    """
    x = 2.0 * np.array(nodes) - 1.0
    moments = np.zeros(len(x))
    moments[0] = 1.0  # of Legendre polynomials on [0, 1]
    return np.asarray(np.linalg.solve(np.polynomial.legendre.legvander(x, len(x) - 1).T, moments), dtype=np.float64)


def are_of_a_rule(nodes: Array) -> bool:
    """Whether nodes reach from 0 to 1 and are those of a rule: exact for one degree more than any such nodes are."""
    n = len(nodes)
    if nodes[0] != 0.0 or nodes[-1] != 1.0 or not (np.diff(nodes) > 0.0).all():
        return False
    legendre = np.polynomial.legendre.legval(2.0 * nodes - 1.0, np.eye(n + 1)[n])
    return bool(n < FEW or abs(weights_of(tuple(nodes.tolist())) @ legendre) <= OF_RULE)


def as_arrays(evidence: Iterable[tuple[int, Sequence[Arc]]]) -> dict[str, Any]:
    """Return the arcs of steps as arrays: a line for every sample of an arc, and for every row in an arc."""
    arcs = [(step, arc) for step, own in evidence for arc in own]
    if not arcs:
        return {}
    found = [arc for _, arc in arcs]
    return {
        "arc_step": np.array([step for step, _ in arcs], dtype=np.int64),
        "arc_size": np.array([len(arc.nodes) for arc in found], dtype=np.int64),
        "arc_t": np.array([arc.t for arc in found]),
        "arc_h": np.array([arc.h for arc in found]),
        **{f"arc_{name}": x for name, x in stacked(found, SAMPLES).items()},
        **_pushes_as_arrays(found),
    }


def _pushes_as_arrays(arcs: Sequence[Arc]) -> dict[str, Any]:
    """Return the reactions of rows and their modes, a line for every row in an arc."""
    pushes = [(k, key, r) for k, arc in enumerate(arcs) for key, r in arc.reactions.items()]
    ids = sorted({key for _, key, _ in pushes})
    at = {key: i for i, key in enumerate(ids)}
    return {
        "arc_ids": np.array(ids, dtype=np.str_),
        "push_arc": np.array([k for k, _, _ in pushes], dtype=np.int64),
        "push_index": np.array([at[key] for _, key, _ in pushes], dtype=np.int64),
        "push_size": np.array([r.shape[1] for _, _, r in pushes], dtype=np.int64),
        "push_mode": np.array([arcs[k].modes[key] for k, key, _ in pushes], dtype=np.str_),
        "push": np.concatenate([np.zeros(0), *(r.ravel() for _, _, r in pushes)]),
    }


def of_arrays(arrays: Mapping[str, Any]) -> dict[int, tuple[Arc, ...]]:
    """Return the arcs that `as_arrays` wrote, by step.

    Raises
    ------
    KeyError, ValueError, IndexError
        Arrays that do not fit together.
    """
    if "arc_step" not in arrays:
        return {}
    sizes = _sizes(arrays)
    ends = np.cumsum(sizes)[:-1]
    samples = (np.split(arrays[f"arc_{name}"], ends) for name in SAMPLES)
    numbers = (arrays[f"arc_{name}"].tolist() for name in ("step", "t", "h"))
    found: dict[int, list[Arc]] = {}
    for step, t, h, nodes, q, v, springs, own in zip(*numbers, *samples, _pushes(arrays, sizes), strict=True):
        reactions, modes = ({key: pair[j] for key, pair in own.items()} for j in (0, 1))
        found.setdefault(step, []).append(
            Arc(t=t, h=h, nodes=nodes, q=q, v=v, reactions=reactions, modes=modes, springs=springs)
        )  # fmt: skip
    return {step: tuple(own) for step, own in found.items()}


def _check_numbers(arrays: Mapping[str, Any]) -> None:
    """Raise ValueError where counts and places are no whole numbers from 0, or a row has two places."""
    whole = [arrays[name] for name in (*NUMBERS, "push_arc", "push_index", "push_size")]
    if any(one.dtype.kind not in "iu" or one.min(initial=0) < 0 for one in whole):
        raise ValueError("arcs without whole numbers from 0")
    if len(set(arrays["arc_ids"].tolist())) < len(arrays["arc_ids"]):
        raise ValueError("arc_ids: a row twice")


def _sizes(arrays: Mapping[str, Any]) -> list[int]:
    """Return how many samples arcs have; ValueError where the arrays of samples do not fit to that."""
    _check_numbers(arrays)
    sizes: list[int] = arrays["arc_size"].tolist()
    shapes = [np.shape(arrays[f"arc_{name}"]) for name in SAMPLES]
    if min(sizes, default=1) < 2 or [len(one) for one in shapes] != [1, 2, 2, 2]:
        raise ValueError("arcs of other dimensions")
    if any(one[0] != sum(sizes) for one in shapes):
        raise ValueError(f"{shapes[0][0]} samples of {len(sizes)} arcs")
    nodes = {own.tobytes(): own for own in np.split(arrays["arc_nodes"], np.cumsum(sizes)[:-1])} if sizes else {}
    if not all(are_of_a_rule(own) for own in nodes.values()):
        raise ValueError("arc_nodes: samples at nodes of no rule")
    return sizes


def _pushes(arrays: Mapping[str, Any], sizes: list[int]) -> list[dict[str, tuple[Array, str]]]:
    """Return reactions and mode of every row that may push, of each arc."""
    pushes: list[dict[str, tuple[Array, str]]] = [{} for _ in arrays["arc_step"]]
    cuts = arrays["push_size"] * np.array(sizes)[arrays["push_arc"]]
    if cuts.sum() != len(arrays["push"]):
        raise ValueError(f"{len(arrays['push'])} reactions of arcs")
    parts = np.split(arrays["push"], np.cumsum(cuts)[:-1]) if len(cuts) else []
    lines = zip(*(arrays[f"push_{name}"].tolist() for name in ("arc", "index", "mode")), parts, strict=True)
    for k, i, mode, r in lines:
        if str(arrays["arc_ids"][i]) in pushes[k]:
            raise ValueError(f"reactions of {arrays['arc_ids'][i]} twice in arc {k}")
        pushes[k][str(arrays["arc_ids"][i])] = r.reshape(sizes[k], -1), str(mode)
    return pushes
