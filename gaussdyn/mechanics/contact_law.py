"""What two bodies do where they touch: friction and restitution as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactLaw:
    """Friction and restitution of a pair of bodies.

    Parameters
    ----------
    mu, mu_s : float
        Friction of slip and of rest, mu_s >= mu >= 0 (mu_s = mu by default).
    mu_r : float
        Rolling resistance, m: a moment of at most mu_r r_N acts against rolling.
    mu_t : float
        Torsional friction, m: a moment of at most mu_t r_N acts about the normal, against the spin. That of a patch of
        radius a with even pressure is 2/3 mu a. In space only, as mu_r.
    eps_n, eps_t : float
        Newton restitution, normal in [0, 1] and tangential in [-1, 1].

    Raises
    ------
    InputError
        NaN or a value out of range.
    """

    mu: float = 0.0
    mu_s: float = -1.0
    mu_r: float = 0.0
    mu_t: float = 0.0
    eps_n: float = 0.0
    eps_t: float = 0.0

    def __post_init__(self) -> None:
        mu = scalar("mu", self.mu, low=0.0)
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "mu_s", mu if self.mu_s == -1.0 else scalar("mu_s", self.mu_s, low=mu))
        object.__setattr__(self, "mu_r", scalar("mu_r", self.mu_r, low=0.0))
        object.__setattr__(self, "mu_t", scalar("mu_t", self.mu_t, low=0.0))
        object.__setattr__(self, "eps_n", scalar("eps_n", self.eps_n, low=0.0, high=1.0))
        object.__setattr__(self, "eps_t", scalar("eps_t", self.eps_t, low=-1.0, high=1.0))

    @property
    def size(self) -> int:
        """Number of rows in space: 1 without friction, 3 with it, 2 more to resist rolling, 1 to resist torsion."""
        moments = 2 * (self.mu_r > 0.0) + (self.mu_t > 0.0)
        if moments:
            return 3 + moments
        return 3 if self.mu_s > 0.0 or self.eps_t != 0.0 else 1
