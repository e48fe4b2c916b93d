"""States and impulses written by hand are judged like runs, by the same equations and by the same command."""

from __future__ import annotations

import json
from dataclasses import replace

import h5py
import numpy as np
import pytest

from gaussdyn.analysis.audit import RecordedStates, Scheme, audit
from gaussdyn.cli.audit_command import read
from gaussdyn.errors import InputError, SceneError
from gaussdyn.mechanics.spatial.bodies import ball
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.scenes.catalogue import build

G, DT, MU = 9.81, 1e-2, 0.2
NINE = {
    "r_eom", "r_kinematics", "r_cts_joints", "r_cts_limits", "r_cts_contacts", "r_ncp_primal", "r_ncp_dual",
    "r_ncp_compl", "r_vi_natmap",
}  # fmt: skip


def sliding(steps=20):
    """A block that slides down an incline on two corners, by the semi-implicit rule in closed form.

    Returns the scene, the ids of its contacts, times, states, and impulses (steps, contacts, 2).
    """
    scene = build("incline", mu=MU)
    q0, v0 = scene.state.q, scene.state.v
    rows, h = scene.system.rows(0.0, q0, v0), scene.system.force(0.0, q0, v0, None)
    inverse = np.linalg.inv(scene.system.mass(q0))
    J = np.array([row.J[0] for row in rows])
    down = np.sign(rows[0].J[1] @ inverse @ h)
    B = np.array([row.J[0] - MU * down * row.J[1] for row in rows]).T  # of the loads: friction against the slip
    N = np.linalg.solve(J @ inverse @ B, -J @ inverse @ h)
    a = inverse @ (h + B @ N)
    t = np.arange(steps + 1) * DT
    v = v0 + t[:, None] * a
    q = q0 + np.vstack([np.zeros(3), np.cumsum(DT * v[1:], axis=0)])
    p = DT * np.column_stack([N, -MU * down * N])
    return scene, [row.id for row in rows], t, q, v, np.tile(p, (steps, 1, 1))


def written(path, ids, t, q, v, impulses, **attributes):
    with h5py.File(path, "w") as file:
        file.attrs["schema"], file.attrs["scene"] = "gaussdyn/states/1", "incline"
        file.attrs["params"] = json.dumps({"mu": MU})
        file.attrs["stepper"] = json.dumps({"name": "semi-implicit Euler", "theta": 1.0})
        file.attrs.update(attributes)
        file["t"], file["q"], file["v"] = t, q, v
        file["contacts/state"] = np.repeat(np.arange(1, len(impulses) + 1), len(ids))
        file["contacts/id"] = np.array(ids * len(impulses), dtype="S40")
        file["contacts/impulse"] = np.pad(impulses.reshape(-1, 2), ((0, 0), (0, 1)))
    return path


def test_the_closed_form_of_a_sliding_block_passes_and_has_nine_residuals(tmp_path):
    scene, *rest = sliding()
    states = RecordedStates.load(written(tmp_path / "other.h5", *rest))
    verdict = audit(states, scene.system)
    assert verdict.passed, verdict.explain()
    assert set(verdict.residuals) == NINE
    assert max(float(x.max()) for x in verdict.residuals.values()) < 1e-13
    assert json.loads(json.dumps(verdict.to_json(), allow_nan=False))["pass"] is True


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_short_run_of_a_rule_of_order_one_passes(tmp_path, n):
    """From rest the semi-implicit Euler rule loses about 1 / (2 n) of the energy in n steps: that is the rule's own."""
    scene, ids, t, q, v, p = sliding(n)
    states = RecordedStates.load(written(tmp_path / "other.h5", ids, t, q, v, p))
    verdict = audit(states, scene.system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["energy"] < 1e-9


def test_energy_that_no_rule_adds_is_noticed(tmp_path):
    scene, ids, t, q, v, p = sliding()
    v[7:] *= 1.05
    verdict = audit(RecordedStates.load(written(tmp_path / "other.h5", ids, t, q, v, p)), scene.system)
    assert verdict.max["energy"] > 1e-2


@pytest.mark.parametrize("figure", ["momentum", "kinematics"])
def test_a_changed_velocity_is_noticed_by(tmp_path, figure):
    scene, ids, t, q, v, p = sliding()
    v[7, 0] += 1e-6
    verdict = audit(RecordedStates.load(written(tmp_path / "other.h5", ids, t, q, v, p)), scene.system)
    assert not verdict.passed
    assert verdict.max[figure] > 1e-10


@pytest.mark.parametrize(("by", "figure"), [((1e-6, 0.0), "momentum"), ((-1e-6, 0.0), "cone"), ((0.0, -1e-6), "laws")])
def test_a_changed_impulse_is_noticed_by(tmp_path, by, figure):
    """A larger load, a smaller one that no longer carries its friction, less friction than slides."""
    scene, *rest, p = sliding()
    p[7, 0] += np.array(by) * np.sign(p[7, 0])
    verdict = audit(RecordedStates.load(written(tmp_path / "other.h5", *rest, p)), scene.system)
    assert not verdict.passed
    assert verdict.max[figure] > 1e-9


def test_residuals_have_the_values_of_their_definitions():
    """A ball in free space that is said to get an impulse and a velocity from nowhere."""
    body = ball("ball", mass=2.0, radius=0.1)
    system = SpatialSystem(bodies=[body], gravity=(0.0, 0.0, -G))
    state = system.state({"ball": (0.0, 0.0, 1.0)})
    v = np.zeros((2, 6))
    v[1, 2] = -G * DT + 0.25
    q = np.array([state.q, state.q])
    q[1, 2] += DT * v[1, 2]
    states = RecordedStates(
        scene="ball", params={}, scheme=Scheme.of({"theta": 1.0}), t=np.array([0.0, DT]), q=q, v=v, impulses=({},)
    )
    verdict = audit(states, system)
    assert verdict.residuals["r_eom"][0] == pytest.approx(2.0 * 0.25, rel=1e-12)
    assert verdict.max["kinematics"] < 1e-15
    assert verdict.first_failure.name == "momentum"


def rolling_ball(n=40):
    """A cue ball that slides with spin about all axes, by the semi-implicit rule, written as documented."""
    params = {"mu": 0.15, "v0": 0.7, "spin_x": 11.0, "spin_y": -25.0, "spin_z": 8.0, "radius": 0.04, "mass": 0.3}
    R, m, dt = params["radius"], params["mass"], 1e-3
    down, q = np.array([0.0, 0.0, -R]), np.array([0.0, 0.0, R, 1.0, 0.0, 0.0, 0.0])
    v, w = np.array([params["v0"], 0.0, 0.0]), np.array([params["spin_x"], params["spin_y"], params["spin_z"]])
    qs, vs, pushes = [q], [np.r_[v, w]], []
    for _ in range(n):
        u = v + np.cross(w, down)
        push = np.array([*(-params["mu"] * u[:2] / np.hypot(*u[:2])), 1.0]) * m * G * dt  # on the ball, x y z
        v = v + push / m - np.array([0.0, 0.0, G * dt])
        w = w + np.cross(down, push) / (0.4 * m * R**2)
        a, b = q[3], q[4:]
        inside = w * (a * a - b @ b) + 2.0 * b * (b @ w) - 2.0 * a * np.cross(b, w)  # w in axes of the body
        turned = q[3:] + 0.5 * dt * np.array([-b @ inside, *(a * inside + np.cross(b, inside))])
        q = np.r_[q[:3] + dt * v, turned / np.linalg.norm(turned)]
        w = _seen(q[3:], inside)
        qs, vs, pushes = [*qs, q], [*vs, np.r_[v, inside]], [*pushes, push[[2, 0, 1]]]
    return params, np.arange(n + 1) * dt, np.array(qs), np.array(vs), np.array(pushes)


def _seen(turn, inside):
    """Return a vector in the axes of a body as it is in space."""
    a, b = turn[0], turn[1:]
    return inside * (a * a - b @ b) + 2.0 * b * (b @ inside) + 2.0 * a * np.cross(b, inside)


def test_a_ball_in_space_that_is_written_by_hand_passes(tmp_path):
    params, t, q, v, p = rolling_ball()
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file.attrs["schema"], file.attrs["scene"] = "gaussdyn/states/1", "cue_ball"
        file.attrs["params"] = json.dumps(params)
        file["t"], file["q"], file["v"] = t, q, v
        file["contacts/state"] = np.arange(1, len(t))
        file["contacts/id"] = ["ball/table"] * len(p)
        file["contacts/impulse"] = p
    verdict = audit(RecordedStates.load(path), build("cue_ball", **params).system)
    assert verdict.passed, verdict.explain()
    assert max(float(x.max()) for x in verdict.residuals.values()) < 1e-13


@pytest.mark.parametrize("name", ["t", "q", "v", "contacts/state", "contacts/id", "contacts/impulse"])
def test_what_is_missing_or_no_number_in_a_file_is_named_with_what_it_should_hold(tmp_path, name):
    path = written(tmp_path / "other.h5", *sliding()[1:])
    with h5py.File(path, "a") as file:
        whole = file[name][()]
        del file[name]
    with pytest.raises(SceneError, match=rf"\[{name}\].*no such data set.*file\['{name}'\] = "):
        RecordedStates.load(path)
    if whole.dtype.kind == "S":
        return
    for bad in (np.full(whole.shape, np.nan), whole.astype("S8"), np.zeros(())):
        with h5py.File(path, "a") as file:
            if name in file:
                del file[name]
            file[name] = bad
        with pytest.raises(SceneError, match=rf"\[{name}\]"):
            RecordedStates.load(path)


def test_contacts_that_are_no_group_are_named(tmp_path):
    path = written(tmp_path / "other.h5", *sliding()[1:])
    with h5py.File(path, "a") as file:
        del file["contacts"]
        file["contacts"] = np.zeros(3)
    with pytest.raises(SceneError, match=r"\[contacts\].*a data set.*create_group"):
        RecordedStates.load(path)


@pytest.mark.parametrize("name", ["params", "stepper"])
@pytest.mark.parametrize("text", ["{", "[1]", "3"])
def test_attributes_that_are_no_json_objects_are_named(tmp_path, name, text):
    path = written(tmp_path / "other.h5", *sliding()[1:], **{name: text})
    with pytest.raises(SceneError, match="a JSON object"):
        RecordedStates.load(path)


def test_bad_files_are_named(tmp_path):
    scene, ids, t, q, v, p = sliding()
    path = tmp_path / "other.h5"
    with pytest.raises(InputError, match="Nearest"):
        audit(RecordedStates.load(written(path, [ids[0], ids[1] + "x"], t, q, v, p)), scene.system)
    with pytest.raises(InputError, match="nq, nv"):
        audit(RecordedStates.load(written(path, ids, t, q[:, :1], v, p)), scene.system)
    with pytest.raises(InputError, match="system"):
        audit(RecordedStates.load(written(path, ids, t, q, v, p)))
    for bad in ({"t": t[::-1]}, {"q": q[1:]}, {"v": np.full_like(v, np.nan)}, {"p": np.tile(p, (2, 1, 1))}):
        data = {"t": t, "q": q, "v": v, "p": p} | bad
        with pytest.raises(SceneError, match=r"other\.h5"):
            RecordedStates.load(written(path, ids, *data.values()))
    for attributes in ({"schema": "other/1"}, {"stepper": json.dumps({"theta": 2.0})}, {"stepper": '{"laws": "none"}'}):
        with pytest.raises(SceneError, match=r"other\.h5"):
            RecordedStates.load(written(path, ids, t, q, v, p, **attributes))


def test_a_push_of_shapes_that_are_apart_and_a_share_above_one_say_what_to_write(tmp_path):
    params, t, q, v, p = rolling_ball(3)
    path = tmp_path / "other.h5"
    for by, stepper, words in (
        (0.05, {}, "Shapes that are apart have no rows"), (0.0, {"theta": 2}, "Write theta=1.0"),
    ):  # fmt: skip
        with h5py.File(path, "w") as file:
            file.attrs.update(schema="gaussdyn/states/1", scene="cue_ball", params=json.dumps(params))
            file.attrs["stepper"] = json.dumps(stepper)
            file["t"], file["q"], file["v"] = t, q + by * np.eye(7)[2], v
            file["contacts/state"], file["contacts/impulse"] = np.arange(1, 4), p
            file["contacts/id"] = np.array(["ball/table"] * 3, dtype="S20")
        with pytest.raises((InputError, SceneError), match=words):
            audit(RecordedStates.load(path), build("cue_ball", **params).system)


ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0.4 0 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.3"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def swinging(path, steps=30):
    """A rod on a hinge that a motor turns, by the semi-implicit rule; its model, and what was told."""
    path.write_text(ARM)
    inertia, torque = 0.3 + 2.0 * 0.4**2, np.r_[0.0, 3.0 * np.cos(np.arange(steps))]
    q, v = np.zeros(steps + 1), np.zeros(steps + 1)
    for k in range(steps):
        v[k + 1] = v[k] + DT * (torque[k + 1] + 2.0 * G * 0.4 * np.cos(q[k])) / inertia
        q[k + 1] = q[k] + DT * v[k + 1]
    return q[:, None], v[:, None], torque[:, None]


def test_a_robot_that_is_told_something_is_judged_by_its_model_and_what_it_was_told(tmp_path):
    q, v, control = swinging(tmp_path / "arm.urdf")
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update(schema="gaussdyn/states/1", scene="my arm")
        file["t"], file["q"], file["v"], file["control"] = np.arange(len(q)) * DT, q, v, control
    states, system = read(str(path), tmp_path / "arm.urdf")
    verdict = audit(states, system)
    assert verdict.passed, verdict.explain()
    assert verdict.max["momentum"] < 1e-14
    more = replace(states, control=control + 1e-6)
    for false in (replace(states, control=None), more):
        assert audit(false, system).first_failure.name == "momentum"
    with pytest.raises(InputError, match=r"control.*vector of shape"):
        audit(replace(states, control=np.zeros((len(q), 3))), system)
    with pytest.raises(InputError, match=r"control.*a row for each"):
        replace(states, control=control[1:])
