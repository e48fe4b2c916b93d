"""The modes of every block partition its states, and what they share holds in all of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from gaussdyn.programs.enumeration.modes import (
    Block,
    Condition,
    associated_block,
    bilateral_block,
    bilateral_sliding_block,
    contact_block,
    dry_block,
    unilateral_block,
)
from gaussdyn.programs.proof.exact_linear import ABOVE, EQUAL

Q = Fraction
MU, MU_S = Q(1, 2), Q(1)
GRID = [Q(x, 2) for x in range(-3, 4)]

Law = Callable[[tuple[Q, ...], tuple[Q, ...]], bool]


def coulomb(load: Q, slip: Q, r_t: Q, mu_s: Q = MU) -> bool:
    """Coulomb's law in the plane for a given |r_n|."""
    if slip == 0:
        return abs(r_t) <= mu_s * load
    return r_t == (-MU * load if slip > 0 else MU * load)


def signorini(a: Q, r: Q) -> bool:
    return a >= 0 and r >= 0 and a * r == 0


LAWS: dict[str, tuple[Block, Law]] = {
    "unilateral": (unilateral_block(), lambda u, f: signorini(u[0], f[0])),
    "contact at rest": (contact_block(MU, MU), lambda u, f: signorini(u[0], f[0]) and (
        f[1] == 0 if u[0] > 0 else coulomb(f[0], u[1], f[1]))),
    "contact with mu_s > mu": (contact_block(MU, MU_S), lambda u, f: signorini(u[0], f[0]) and (
        f[1] == 0 if u[0] > 0 else coulomb(f[0], u[1], f[1], MU_S))),
    "contact without friction": (contact_block(Q(0), Q(0)), lambda u, f: signorini(u[0], f[0]) and f[1] == 0),
    "sliding contact": (contact_block(MU, MU, 1), lambda u, f: signorini(u[0], f[0]) and f[1] == -MU * f[0]),
    "sliding back": (contact_block(MU, MU, -1), lambda u, f: signorini(u[0], f[0]) and f[1] == MU * f[0]),
    "held contact": (bilateral_block(MU, MU), lambda u, f: u[0] == 0 and coulomb(abs(f[0]), u[1], f[1])),
    "held, mu_s > mu": (bilateral_block(MU, MU_S), lambda u, f: u[0] == 0 and coulomb(abs(f[0]), u[1], f[1], MU_S)),
    "held and sliding": (bilateral_block(MU, MU, 1), lambda u, f: u[0] == 0 and f[1] == -MU * abs(f[0])),
    "guide": (bilateral_sliding_block(), lambda u, f: u[0] == 0 and f[1] == abs(f[0])),
    "dry": (dry_block(Q(1, 2), Q(1)), lambda u, f: coulomb(Q(1), u[0], f[0], Q(1))),
    "associated": (associated_block(MU), lambda u, f: u[0] >= MU * abs(u[1]) and MU * f[0] >= abs(f[1])
                   and f[0] >= 0 and u[0] * f[0] + u[1] * f[1] == 0),
}  # fmt: skip


def holds(c: Condition, u: tuple[Q, ...], f: tuple[Q, ...]) -> bool:
    value = sum(a * x for a, x in zip(c.motion, u, strict=True)) + sum(a * x for a, x in zip(c.force, f, strict=True))
    return value == c.bound if c.kind == EQUAL else value > c.bound if c.kind == ABOVE else value >= c.bound


@pytest.mark.parametrize("name", LAWS)
def test_modes_partition_the_states(name: str) -> None:
    block, law = LAWS[name]
    reached = set()
    for state in product(GRID, repeat=block.motions + block.forces):
        u, f = state[: block.motions], state[block.motions :]
        inside = [m.letter for m in block.modes if all(holds(c, u, f) for c in m.conditions)]
        assert len(inside) == (1 if law(u, f) else 0), (state, inside)
        reached |= set(inside)
        if inside:
            assert all(holds(c, u, f) for c in block.shared), (state, inside)
    assert reached == set(block.letters)


@pytest.mark.parametrize("name", LAWS)
def test_conditions_stand_in_the_order_of_certificates(name: str) -> None:
    block, _ = LAWS[name]
    for mode in block.modes:
        kinds = [c.kind for c in mode.conditions]
        assert kinds == sorted(kinds)


def test_letters() -> None:
    assert unilateral_block().letters == "01"
    assert set(contact_block(MU, MU).letters) == set("DS+-")
    assert set(contact_block(MU, MU, -1).letters) == set("DL")
    assert set(bilateral_block(MU, MU).letters) == set("S+-spm")
    assert set(bilateral_block(MU, MU, 1).letters) == set("Ll")
