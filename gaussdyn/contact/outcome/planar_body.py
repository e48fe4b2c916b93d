"""One rigid body in the plane as a problem of modes: from its file, or recognised in the state of a system.

A state with smooth and rough contacts of a single body is written down as that body, so that its certificate is of
the kind planar_body, which holds nothing but mass, points, normals and loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...linalg.rational import rational
from ...mechanics.planar.body_file import ExactBody
from ...programs.enumeration.modal_problem import ModalProblem
from ...programs.enumeration.modes import planar_blocks

Rows = Sequence[Sequence[Fraction]]


def planar_body_problem(body: ExactBody) -> ModalProblem:
    """Return the problem of a planar body; its primary unknown is (a_n of each contact, then a_t)."""
    G, b = body.local()
    order = [*range(0, len(b), 2), *range(1, len(b), 2)]
    return ModalProblem(
        kind="planar_body", W=G, q=b, blocks=planar_blocks(body.mu, body.mu_s, body.bilateral, body.state),
        primary=[(G[i], b[i]) for i in order], document=body.document(), numbers=body.numbers,
    )  # fmt: skip


def recognised(
    M: Rows,
    J: Rows,
    load: Sequence[Fraction],
    drift: Sequence[Fraction],
    laws: Sequence[dict[str, object]],
    numbers: str,
) -> ExactBody | None:
    """Return the body that these equations are about, or None if they are not those of one body in the plane.

    Parameters
    ----------
    M : rows of Fraction, shape (nv, nv)
        diag(m, m, J), or diag(m, m) of a point.
    J : rows of Fraction, shape (2 contacts, nv)
        Per contact (n_x, n_y, x n_y - y n_x), then the same of t = (n_y, -n_x).
    load, drift : Fraction, shapes (nv,), (2 contacts,)
    laws : dict
        What certificates say of the contacts: mu, mu_s, bilateral, state.
    numbers : str
        What the certificate says of its numbers.
    """
    if not _is_mass(M) or not laws or len(J) != 2 * len(laws):
        return None
    points = [_point(*J[2 * k : 2 * k + 2]) for k in range(len(laws))]
    if None in points:
        return None
    return ExactBody(
        name="", m=M[0][0], J=M[2][2] if len(M) == 3 else Fraction(1), numbers=numbers,
        points=tuple(point for point in points if point is not None), normals=tuple(tuple(row[:2]) for row in J[::2]),
        mu=tuple(rational(law["mu"]) for law in laws), mu_s=tuple(rational(law["mu_s"]) for law in laws),
        bilateral=tuple(bool(law["bilateral"]) for law in laws), state=tuple(int(str(law["state"])) for law in laws),
        force=(*load, Fraction(0))[:3], drift=tuple(zip(drift[::2], drift[1::2], strict=True)),
    )  # fmt: skip


def _is_mass(M: Rows) -> bool:
    """Whether M is the mass of one body in the plane, diag(m, m, J), or of a point, diag(m, m)."""
    straight = all(x == 0 for i, row in enumerate(M) for j, x in enumerate(row) if i != j)
    return len(M) in (2, 3) and straight and M[0][0] == M[1][1]


def _point(normal: Sequence[Fraction], tangent: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Return the point at which the rows of n and t = (n_y, -n_x) act; None if they are not such rows."""
    a, b, *turn = normal
    if not (a or b) or tuple(tangent[:2]) != (b, -a):
        return None
    arms = (turn[0], tangent[2]) if turn else (Fraction(0), Fraction(0))
    square = a * a + b * b
    return (b * arms[0] - a * arms[1]) / square, (-a * arms[0] - b * arms[1]) / square
