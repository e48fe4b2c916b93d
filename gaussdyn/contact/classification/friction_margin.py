"""How far the friction of a body is from a change in the number of its motions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ...mechanics.planar.body_file import ExactBody
from ...programs.enumeration.critical_values import Critical, critical_values
from ..outcome.planar_body import planar_body_problem


def critical_friction(
    body: ExactBody, contact: int | None = None, most: Fraction = Fraction(10)
) -> tuple[Critical, ...]:
    """Return the exact friction at which the number of accelerations of a planar body changes.

    Parameters
    ----------
    body : ExactBody
    contact : int, optional
        The contact whose mu (and mu_s, kept at the same ratio) is varied, in (0, most]; its value is returned.
        None: all of them together, by a factor in (0, most], which is returned.
    most : Fraction

    Raises
    ------
    InputError
        Too many modes.
    """
    chosen = range(len(body.mu)) if contact is None else [contact]

    def scaled(x: Fraction) -> ExactBody:
        """Return the body with the parameter at x."""
        mu, mu_s = list(body.mu), list(body.mu_s)
        for k in chosen:
            factor = x if contact is None or not mu[k] else x / mu[k]
            mu[k], mu_s[k] = (mu[k] * factor, mu_s[k] * factor) if mu[k] or contact is None else (x, x)
        return replace(body, mu=tuple(mu), mu_s=tuple(mu_s))

    return critical_values(lambda x: planar_body_problem(scaled(x)), Fraction(0), Fraction(most), len(body.mu) + 1)


def friction_margin(body: ExactBody, most: Fraction = Fraction(10)) -> Fraction | None:
    """Return mu_crit / mu: the least factor > 1 of all mu at which the number of motions changes, up to `most`."""
    found = [c.value for c in critical_friction(body, None, most) if c.value > 1]
    return min(found, default=None)
