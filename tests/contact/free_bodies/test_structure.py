"""Contacts between free bodies against dense matrices: J, M + J^T E J, W, rho, the residual, and the solvers."""

import numpy as np
import pytest
from evidence import examples

from gaussdyn.contact.free_bodies.bodies_interior_point import begin_path, find_direction, follow_path, put_misfit
from gaussdyn.contact.free_bodies.body_problem import BodyProblem, BodyWork, Contacts, Iterate
from gaussdyn.contact.free_bodies.cone_path import YIELDS, let_yield, products, scaled, scaling
from gaussdyn.contact.free_bodies.coulomb import step_sizes
from gaussdyn.contact.free_bodies.newton import Goal, modes_newton, motion
from gaussdyn.contact.free_bodies.one_by_one import gauss_seidel
from gaussdyn.contact.free_bodies.proximal import proximal_point
from gaussdyn.contact.free_bodies.structure import add_wrench, assemble, relative_motion
from gaussdyn.linalg.block_lu import analyse, block_at, factorise, solve_factorised


class Heap:
    """Random bodies and contacts, with the arguments of the kernels and the same as dense matrices."""

    def __init__(self, seed, n=5, per_pair=3):
        rng = np.random.default_rng(seed)
        pair = np.array([[-1, 0], [0, 1], [1, 2], [-1, 2], [2, 3], [3, 4], [0, 4]][: n + 2])
        pair = np.ascontiguousarray(pair[(pair < n).all(axis=1)])
        first = np.arange(0, per_pair * len(pair) + 1, per_pair)
        c = int(first[-1])
        self.n, self.c, x = n, c, rng.normal(size=(n, 3))
        R, ra, rb = (
            np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(c)]),
            np.zeros((c, 3)),
            np.zeros((c, 3)),
        )
        for k, (a, b) in enumerate(pair):
            for i in range(first[k], first[k + 1]):
                point = rng.normal(size=3)
                rb[i], ra[i] = point - x[b], point - (x[a] if a >= 0 else 0.0)
        M = np.zeros((n, 4, 3))
        M[:, 3, 0] = rng.uniform(0.5, 2.0, n)
        M[:, :3] = [A @ A.T + np.eye(3) for A in rng.normal(size=(n, 3, 3))]
        inverse = np.zeros_like(M)
        inverse[:, 3, 0], inverse[:, :3] = 1.0 / M[:, 3, 0], np.linalg.inv(M[:, :3])
        self.ordering = analyse(n, np.ascontiguousarray(pair[:, 0]), np.ascontiguousarray(pair[:, 1]))
        rank, start, rows = self.ordering.rank, self.ordering.start, self.ordering.rows
        slot = np.full((len(pair), 4), -1)
        for k, (a, b) in enumerate(pair):
            for m, (i, j) in enumerate(((b, b), (a, a), (b, a), (a, b))):
                if i >= 0 and j >= 0:
                    slot[k, m] = block_at(n, rank[i], rank[j], start, rows)
        self.contacts = Contacts(pair, first, slot, R, ra, rb)
        self.mu, self.rho, self.h, self.w = (
            rng.uniform(0.1, 0.9, c),
            np.zeros(c),
            rng.normal(size=(n, 6)),
            np.zeros((c, 3)),
        )
        self.problem = BodyProblem(self.contacts, M, inverse, self.h, self.w, self.mu, self.rho)
        self.work = BodyWork(
            np.zeros((n + 2 * len(rows), 6, 6)), np.zeros((c, 3, 3)), *(np.zeros((c, 3)) for _ in range(3)),
            *(np.zeros((n, 6)) for _ in range(3)), np.zeros(c, dtype=np.int64),
        )  # fmt: skip
        step_sizes(self.contacts, self.mu, inverse, self.rho)
        self.M, self.J = np.zeros((6 * n, 6 * n)), np.zeros((3 * c, 6 * n))
        for i in range(n):
            self.M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = M[i, 3, 0] * np.eye(3)
            self.M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = M[i, :3]
        for k, (a, b) in enumerate(pair):
            for i in range(first[k], first[k + 1]):
                self._place(i, b, R[i], rb[i], 1.0)
                if a >= 0:
                    self._place(i, a, R[i], ra[i], -1.0)

    def _place(self, i, body, R, arm, sign):
        x, y, z = arm
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        self.J[3 * i : 3 * i + 3, 6 * body : 6 * body + 6] = sign * R @ np.hstack([np.eye(3), -cross])

    def natural_map(self, p):
        """E of the impulses p from the dense problem alone."""
        W = self.J @ np.linalg.solve(self.M, self.J.T)
        q = self.J @ np.linalg.solve(self.M, self.h.ravel()) + self.w.ravel()
        u, F, Q = W @ p.ravel() + q, [], []
        for c in range(self.c):
            part = slice(3 * c, 3 * c + 3)
            rho, mu = 1.0 / np.linalg.eigvalsh(W[part, part])[-1], self.mu[c]
            x = p[c] - rho * (u[part] + [mu * np.hypot(*u[part][1:]), 0.0, 0.0])
            t = np.hypot(x[1], x[2])
            if mu * t <= -x[0]:
                y = np.zeros(3)
            elif t <= mu * x[0]:
                y = x
            else:
                n = (x[0] + mu * t) / (1.0 + mu * mu)
                y = np.array([n, mu * n * x[1] / t, mu * n * x[2] / t])
            F.append(p[c] - y)
            Q.append(rho * q[part])
        return np.linalg.norm(F) / np.linalg.norm(Q)


def iterate_of(heap, p, v, u):
    return Iterate(p, u, np.zeros_like(p), np.zeros_like(p), v)


def interior_point(heap, answer, tol, limit, warm):
    """Follow a path from its beginning; p becomes the best point met."""
    iterate = iterate_of(heap, *answer)
    path = begin_path(heap.problem, heap.work, iterate, warm)
    return follow_path(heap.problem, heap.ordering, heap.work, path, iterate, tol, limit)


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_dense_one(seed):
    heap = Heap(seed)
    rng = np.random.default_rng(seed)
    v, p, u, F = (
        rng.normal(size=(heap.n, 6)),
        rng.normal(size=(heap.c, 3)),
        np.zeros((heap.c, 3)),
        np.zeros((heap.n, 6)),
    )
    relative_motion(heap.contacts, v, u)
    add_wrench(heap.contacts, p, F)
    assert np.abs(u.ravel() - heap.J @ v.ravel()).max() < 1e-13
    assert np.abs(F.ravel() - heap.J.T @ p.ravel()).max() < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_factors_solve_the_assembled_matrix(seed):
    heap = Heap(seed)
    rng = np.random.default_rng(seed)
    E, x, y = rng.normal(size=(heap.c, 3, 3)), rng.normal(size=(heap.n, 6)), np.zeros((heap.n, 6))
    E = np.ascontiguousarray(E @ E.transpose(0, 2, 1) + 0.3 * rng.normal(size=E.shape))  # unsymmetric
    E[0], E[1], E[-1] = 0.0, 5.0 * np.eye(3), 0.7 * np.eye(3)  # open, and two that stick
    dense = heap.M + sum(heap.J[3 * c : 3 * c + 3].T @ E[c] @ heap.J[3 * c : 3 * c + 3] for c in range(heap.c))
    wanted = np.linalg.solve(dense, x.ravel())
    B = heap.work.B
    assemble(heap.contacts, E, heap.problem.M, heap.ordering.rank, len(B), B)
    factorise(heap.n, heap.ordering, B)
    solve_factorised(heap.n, heap.ordering, B, x, y)
    assert np.abs(x.ravel() - wanted).max() < 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(3))
def test_scales_are_the_largest_eigenvalues(seed):
    heap = Heap(seed)
    W = heap.J @ np.linalg.solve(heap.M, heap.J.T)
    for c in range(heap.c):
        top = np.linalg.eigvalsh(W[3 * c : 3 * c + 3, 3 * c : 3 * c + 3])[-1]
        assert heap.rho[c] == pytest.approx(1.0 / top, rel=1e-7)


@pytest.mark.drawn
@pytest.mark.parametrize("start", ["proximal", "interior"])
def test_solvers_meet_the_law(start):
    for seed in range(examples(12, fast=4)):
        check_solvers_meet_the_law(seed, start)


def check_solvers_meet_the_law(seed, start):
    heap = Heap(seed, n=3, per_pair=2)
    best, v = np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
    p, u = np.zeros((heap.c, 3)), np.zeros((heap.c, 3))
    if start == "interior":
        interior_point(heap, (p, v, u), 1e-2, 30, 0.0)
    E, _, floor = proximal_point(heap.problem, heap.ordering, heap.work, p, v, u, 1e-12, 200)
    if max(1e-12, floor) < E:
        iterate = Iterate(p, u, best, best, v)
        goal = Goal(1e-12, 1e-12, 10)
        E, _, floor, *_ = modes_newton(heap.problem, heap.ordering, heap.work, iterate, 1e-9, goal, False)
    assert heap.natural_map(p) == pytest.approx(E, rel=1e-3, abs=1e-13)  # what is claimed is true, solved or not
    if start == "interior":
        assert max(1e-12, floor) >= E


def test_both_vectors_of_a_contact_are_scaled_to_one():
    """W g = W^-1 r, and W^2 as it is written out."""
    rng = np.random.default_rng(0)
    r, g = rng.normal(size=(2, 50, 3))
    for x in (r, g):
        x[:, 0] = np.hypot(x[:, 1], x[:, 2]) + 10.0 ** rng.uniform(-6, 2, 50)
    for i in range(50):
        a, *w = scaling(r, g, i)
        one, other = scaled(a, *w, *g[i]), scaled(1.0 / a, w[0], -w[1], -w[2], *r[i])
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(other).max())
        twice = a * a * (2.0 * np.outer(w, w) - np.diag([1.0, -1.0, -1.0]))
        np.testing.assert_allclose(twice @ g[i], scaled(a, *w, *one), rtol=1e-9, atol=1e-9 * np.abs(one).max())


def test_directions_solve_the_linearised_law():
    """Dense: momentum, what g lacks of the motion, and (W^-1 r) o (W g), whatever share of the slide is followed."""

    def arrow(x):
        return np.array([[x[0], x[1], x[2]], [x[1], x[0], 0.0], [x[2], 0.0, x[0]]])

    for seed, follows in ((0, 1.0), (1, 0.5), (2, 0.0)):
        heap, rng = Heap(seed, n=4, per_pair=2), np.random.default_rng(seed)
        p, u, v = rng.normal(size=(heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
        path = begin_path(heap.problem, heap.work, iterate_of(heap, p, v, u), 1.0)
        (r, g, _x), (G, slide), (dr, dg, dx) = path.point, path.lacks, path.to
        path.pace[0] = follows
        motion(heap.problem, np.stack([r[:, 0] / heap.mu, r[:, 1], r[:, 2]], axis=1), heap.work.F, v, u)
        put_misfit(heap.problem, path, heap.work.F, u)
        products(heap.c, path.point, path.frame, path.rc)
        find_direction(heap.problem, heap.ordering, heap.work, path, True)
        dp = dr / np.stack([heap.mu, np.ones(heap.c), np.ones(heap.c)], axis=1)
        lost = path.first.ravel() + heap.J.T @ dp.ravel() - heap.M @ dx.ravel()
        assert np.abs(lost).max() < 1e-9 * np.abs(heap.M @ dx.ravel()).max()
        du = (heap.J @ dx.ravel()).reshape(-1, 3)
        for c in range(heap.c):
            changed = [du[c, 0] / heap.mu[c] + follows * (slide[c] @ du[c, 1:]), *du[c, 1:]]
            assert dg[c] == pytest.approx(G[c] + changed, rel=1e-5, abs=1e-5 * np.abs(dg).max())  # they yield a little
            a, *w = scaling(r, g, c)
            back = a, w[0], -w[1], -w[2]
            both = arrow(scaled(a, *w, *g[c])) @ (np.array(scaled(1.0 / a, *back[1:], *dr[c])) + scaled(a, *w, *dg[c]))
            assert both == pytest.approx(path.rc[c], rel=1e-7, abs=1e-7 * np.abs(path.rc).max())


def test_paths_end_where_the_law_holds_with_much_friction():
    """The path of centres turns back there; directions that follow the sliding velocity less go on."""
    for seed in range(20):
        heap = Heap(seed, n=4, per_pair=2)
        heap.mu *= 4.0
        for warm in (0.0, 0.1, 1.0):
            p, u, v = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
            E, _ = interior_point(heap, (p, v, u), 1e-4, 200, warm)  # 108 with the roundings of some processors
            assert 1e-4 >= E == pytest.approx(heap.natural_map(p), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_path_taken_up_again_goes_on_where_it_stood(seed):
    heap, answers = Heap(seed, n=4, per_pair=2), []
    for goals in ((1e-2, 1e-4), (1e-4,)):
        p, u, v = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
        iterate, total = iterate_of(heap, p, v, u), 0
        path = begin_path(heap.problem, heap.work, iterate, 0.0)
        for goal in goals:
            E, used = follow_path(heap.problem, heap.ordering, heap.work, path, iterate, goal, 100)
            assert goal >= E == pytest.approx(heap.natural_map(p), rel=1e-6)
            total += used
            p_then = p.copy()
            p += 1.0  # what others make of the impulses on the way is no part of the path
        answers.append((total, p_then))
    assert answers[0][0] == answers[1][0] > 5
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


@pytest.mark.parametrize("seed", range(3))
def test_paths_come_close_where_contacts_depend_on_one_another(seed):
    """Every contact twice: their impulses are not unique, and stiff ones would carry more rounding than is left."""
    heap = Heap(seed, n=5, per_pair=4)
    for c in range(0, heap.c, 2):
        for part in heap.contacts[3:]:
            part[c + 1] = part[c]
        heap.mu[c + 1] = heap.mu[c]
    step_sizes(heap.contacts, heap.mu, heap.problem.inverse, heap.rho)
    p, u, v = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
    E, _ = interior_point(heap, (p, v, u), 1e-8, 100, 0.0)
    assert E <= 1e-8


@pytest.mark.parametrize("size", [1e-3, 1e3, 1e9])
def test_contacts_that_yield_take_up_less(size):
    """dp = e - E (x + YIELDS / rho dp), solved for dp, is e' - E' x."""
    rng = np.random.default_rng(0)
    E, e, x, rho = rng.normal(size=(6, 3, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.uniform(1, 2, 6)
    E = size * (E @ E.transpose(0, 2, 1) + np.eye(3))
    softer, yields = E.copy(), np.zeros((6, 3, 4))
    let_yield(6, rho, softer, yields)
    rest = yields[:, 0, 3:] * np.einsum("cij,cj->ci", yields[:, :, :3], e)
    for c in range(6):
        dp = np.linalg.solve(np.eye(3) + YIELDS / rho[c] * E[c], e[c] - E[c] @ x[c])
        np.testing.assert_allclose(rest[c] - softer[c] @ x[c], dp, rtol=1e-12 * max(1.0, YIELDS * size))


@pytest.mark.parametrize("seed", range(4))
def test_factors_at_hand_serve_for_other_rates(seed):
    heap = Heap(seed, n=3, per_pair=2)
    p, u, best, v = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
    proximal_point(heap.problem, heap.ordering, heap.work, p, v, u, 1e-6, 200)
    args, goal = (heap.problem, heap.ordering, heap.work, Iterate(p, u, best, best, v)), Goal(1e-12, 1e-14, 20)
    _, _, _, alpha, held = modes_newton(*args, 1e-7, goal, False)
    assert held
    heap.w += 1e-6 * np.random.default_rng(seed).normal(size=heap.w.shape)
    E, used, floor, *_ = modes_newton(*args, alpha, goal, held)
    assert max(1e-12, floor) >= E
    assert heap.natural_map(p) == pytest.approx(E, rel=1e-3, abs=1e-13)
    assert used == 0 or heap.work.mode.max() > 1  # none, unless a contact slips


def test_a_perturbed_impulse_is_noticed():
    heap = Heap(0, n=3, per_pair=2)
    p, u, _best, v = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6))
    interior_point(heap, (p, v, u), 1e-2, 30, 0.0)
    proximal_point(heap.problem, heap.ordering, heap.work, p, v, u, 1e-12, 200)
    p[0, 0] += 1e-6
    assert heap.natural_map(p) > 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_sweeps_lower_the_residual_and_keep_the_motion(seed):
    heap = Heap(seed, n=4, per_pair=2)
    p, u, v, w = np.zeros((heap.c, 3)), np.zeros((heap.c, 3)), np.zeros((heap.n, 6)), np.zeros((heap.n, 6))
    motion(heap.problem, p, heap.work.F, v, u)
    before = heap.natural_map(p)
    gauss_seidel(heap.problem, p, v, 200)
    assert heap.natural_map(p) < 1e-2 * before
    motion(heap.problem, p, heap.work.F, w, u)
    np.testing.assert_allclose(v, w, rtol=0, atol=1e-12)
    assert (np.hypot(p[:, 1], p[:, 2]) <= heap.mu * p[:, 0] * (1.0 + 1e-12)).all()
