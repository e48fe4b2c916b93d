"""The scheme of `MoreauJean`, and every number on which its steps depend.

    q_m = move(q, v, (1 - theta) dt),                M, J and the directions of the reactions at (t_m, q_m)
    M (v+ - v) = dt h(t_m, q_m, v_theta) + J^T p,    v_theta = (1 - theta) v + theta v+; trees: h + c(q_m, v_theta - v)
    q+ = projection of move(q, v_theta, dt),         the laws hold for (u+, p), u+ = rate at (t+, q+, v+)

Reactions act at the midpoint, the laws hold at the end: for theta = 1/2 and motion without impacts the map is
symmetric, so of order 2, up to what the projection removes, which is of third order per step. The end of the step is
not known beforehand, so u+ is written J x + w with w from a guess of v+, and the guess is refined, pass by pass, until
the contact problem no longer changes. Rates at the end are met with the Jacobian of the midpoint, so that passes
contract only where that has no smaller singular value than it changes by. Where they do not, the laws are taken at
the midpoint (Moreau's classical rule): the step no longer depends on where it ends, and is one contact problem.

**Trees, systems from symbols.** Their mass changes within a step. Coriolis forces c are quadratic in v, so that those
of v_theta and of half of the change, v_theta - v, are together the mean of those at v and v+: each half of the step
moves freely, and in between impulses change v at once. Their work is that on the mean of the velocities just before and
after.

**Which contacts act.** A unilateral row does if it is closed at the start and either approaches (closed at the midpoint
too), or rests, or pushed in the last step. One that is open joins if the step would otherwise end below zero, of each
body those that close first; one that joined and does not push leaves.

**Impacts that gain no energy.** Newton's law u_N+ = -eps_n u_N-, contact by contact, does not know about energy: with
friction, with several contacts or with unequal eps the work of all impulses can be positive. And laws at the end of a
step, where it turns the contact, are met by an impulse at its middle only to O(dt). In such steps the laws hold at the
midpoint, where the work of the impulses is p . (u+ + u-) / 2, and if that is still positive the largest fraction of all
restitution is kept for which it is not: without restitution it is p . u+ - p . W p / 2 <= 0. A free body is not struck
where a contact hardly approaches and bears no more than loads bring in a step (STRUCK, LOADED): what one feature hands
over to another pushes on, and the small rates that laws at a midpoint leave are no impacts.

**Joints that depend on one another.** A mechanism that moves although a count of its freedoms says that it should not
(Bricard's six hinges) has a Jacobian that loses rank on its constraints only. The midpoint lies O(dt^2) beside them:
there its rows are independent, by singular values O(dt^2), and would forbid the motion. So it is moved onto the
constraints where the rank at the start of the step asks for it, see `core.problem.dependent_joints`.

Sources: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics; Jean (1999), The non-smooth
contact dynamics method; Kane, Levinson (1985), Dynamics: theory and applications, 5.8 (a gain of energy); Glocker
(2001), Set-valued force laws, 12 (conditions for dissipation).
"""

from __future__ import annotations

from ...arrays import EPS

# passes
MAX_PASSES = 25
SETTLED = 1e-14  # relative change of the contact problem's data at which its answer is taken
ROUGH = 1e-8  # largest residual E of a contact problem that is not the last one
FINER = 1e-3  # of the last change: residual E at which such a problem counts as solved
STALLED = 1e-8  # change where rounding (or a Jacobian by differences) allows no further gain
CLAIMED = 1e-10  # residual E at the end of a step that stalled, or that nothing solves to less
JUMP = 64.0  # factor by which a change is no longer like the last one
LOOSER = 0.05  # weight of a change of rates, which do not pile up, beside one of momentum
SLOW = 1e-9  # of the speeds at hand: what is left of a normal rate that the law makes zero
CANCELS = 1e-12  # of the speeds that the impulses would bring about one by one: the same where these cancel
TOGETHER = 1e-6  # of a step: contacts that close within this of one another are taken to close at once
SEARCHES = 10  # for contacts at the end of a step

# position projection
CLOSE = 1e-11  # m; violations up to this are left as they are
ALLOWED = 1e-10  # m; a step that ends with more than this has failed
PASSES = 20  # gaps whose normals become parallel (a ball over an edge and its face) fall by a factor of four in each
SLOWEST = 0.25  # fall of the violation in three passes: what falls less has gaps to hold that no place has together
STRAIN = 100.0  # squared length of a shift in that of the gaps it removes; more is that of nearly dependent gaps
ROUNDING = 32.0 * EPS  # of the coordinates, relative: no gap can be smaller
SOFT = 1e-7  # compliance of a gap that pushes, relative to the local one; taken out again round by round
SOFT_ROUNDS = 20

# joints that depend on one another
EXACT = 1e-12  # relative singular value: rounding of J
ON = 1e-8  # the same for coordinates that obey their constraints to 1e-10 m
NEAR = 0.1  # of the way from the start to the midpoint: how far that may be off the constraints
CONTRARY = 1e-9  # of the speeds at hand: rates by which dependent rows may contradict one another

# rest
REST = 1e-9  # of the speeds at hand: what may be left of none (if it is not, the residual will tell)
REST_ROUNDS = 8  # of cutting off what leaves a cone and restoring the momentum
INSIDE = 1.0 - 1e-13  # of the friction bound: where cutting ends
WORSE = 4.0  # times the residual: the reactions are other ones, and its rounding too
GONE = 1e-120  # m/s, N s; what is left of a motion that has stopped would go on shrinking until its square vanishes

# energy
STRUCK = 0.1  # of what loads bring in a step to the rate of a gap: a contact that approaches by less is not struck
LOADED = 4.0  # of the same: what its impulse stops, if it is that of loads
SMALL = 1e-10  # of the kinetic energy: gain of one step that is not worth a word
