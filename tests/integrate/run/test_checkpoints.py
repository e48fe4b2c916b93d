"""Runs on disk: written in chunks, killed, resumed to the bit, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evidence import first
from run_cases import same
from small_systems import Block, Contradiction, CoulombOscillator, Oscillator

from gaussdyn.errors import InputError, SceneError
from gaussdyn.integrate.run import checkpoints as archive
from gaussdyn.integrate.run import hdf5 as storage
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.scene import Scene
from gaussdyn.mechanics.state import State

pytestmark = pytest.mark.xdist_group("checkpoints")  # what they share is made once
COARSE = MoreauJean(dt=0.01)
START = State(q=[0.05, 0.8], v=[0.0, 0.5])


class Killed(BaseException):
    """Ends a run without any clearing up, as a kill would."""


def shaken(t, state):
    """A control that depends on time and state."""
    return np.array([0.3 * np.sin(7.0 * t) - 0.1 * state.v[1]])


class Shaken(CoulombOscillator):
    """A block on a rough floor that is dropped, held by a spring and pushed by the control."""

    def force(self, t, q, v, control=None):
        return super().force(t, q, v) + np.array([0.0, 0.0 if control is None else control[0]])

    def power(self, t, q, v, control=None):
        return 0.0 if control is None else float(control[0] * v[1])


def block(t_end=0.7, **options):
    """Run the block that lands, sticks and slips."""
    return simulate(Shaken(mu_g=1.5), START, t_end, stepper=COARSE, control=shaken, examine="cheap", **options)


@cache
def whole(save=1, t_end=0.7):
    """Return the run that nothing interrupts, made once."""
    return block(t_end, save=save)


def killed(path, step, **options):
    """Run until `step` steps are done and end it there as a kill would: nothing more is written."""
    done = []

    def count(t, t_end):
        done.append(t)
        if len(done) == step:
            raise Killed

    with pytest.raises(Killed):
        block(out=path, progress=count, **options)


@pytest.mark.parametrize("save", first(1, [7, 1]))
def test_a_run_in_chunks_is_the_run(tmp_path, save):
    path = tmp_path / "run.h5"
    run = block(save=save, out=path, chunk=9)
    same(whole(save), run)
    same(whole(save), Trajectory.load(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("step", "chunk", "save"), first(2, [(37, 10, 7), (69, 1000, 3), (40, 10, 7), (37, 10, 1), (64, 1, 4), (1, 10, 1)])
)
def test_a_killed_run_loses_at_most_a_chunk_and_goes_on_to_the_bit(tmp_path, step, chunk, save):
    path = tmp_path / "run.h5"
    killed(path, step, chunk=chunk, save=save)
    there = Trajectory.load(path)
    assert (there.status, len(there.steps.t)) == ("STOPPED", chunk * (step // chunk))
    assert "interrupted" in there.stop.reason
    assert there.t_reached == there.t[-1] == there.stop.t
    assert there.final.digest() == there.state_hash
    assert np.array_equal(there.steps.E, whole(save).steps.E[: len(there.steps.E)])
    same(whole(save), block(out=path, chunk=chunk, save=save, resume=True))
    same(whole(save), Trajectory.load(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_a_run_killed_again_and_again_is_the_run(tmp_path):
    path = tmp_path / "run.h5"
    killed(path, 20, chunk=3, save=5)
    for step in (1, 13, 30):
        killed(path, step, chunk=3, save=5, resume=True)
    same(whole(5), block(out=path, chunk=3, save=5, resume=True))


def test_a_completed_run_is_returned_or_goes_on(tmp_path):
    path = tmp_path / "run.h5"
    short = block(0.43, save=5, out=path)
    same(short, block(0.43, save=5, out=path, resume=True))
    killed(path, 20, save=5, chunk=5, resume=True)
    there = Trajectory.load(path)
    assert len(there.steps.t) == 43 + 20
    assert there.settings["t_end"] == 0.7
    same(whole(5), block(save=5, out=path, resume=True))
    with pytest.raises(InputError, match=r"t_end.*reached"):
        block(0.5, save=5, out=path, resume=True)


def test_a_stopped_run_can_be_asked_again(tmp_path):
    path = tmp_path / "run.h5"
    start, options = State(q=[0.0], v=[0.0]), {"stepper": COARSE, "out": path}
    one = simulate(Contradiction(), start, 0.1, **options)
    two = simulate(Contradiction(), start, 0.1, resume=True, **options)
    assert one.stop == two.stop
    same(one, two)
    same(one, Trajectory.load(path))


def test_a_kill_between_joining_and_clearing_up_is_no_harm(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"

    def die(self):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(archive.Archive, "_clear", die)
        patch.setattr(archive.Archive, "release", lambda self: None)
        with pytest.raises(Killed):
            block(0.4, save=5, out=path, chunk=7)
    assert (tmp_path / "run.h5.parts").is_dir()
    same(whole(5, 0.4), Trajectory.load(path))
    same(whole(5), block(save=5, out=path, resume=True))
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_ends_the_run_in_order(tmp_path):
    path = tmp_path / "run.h5"

    def interrupt(t, t_end):
        if t > 0.305:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        run = block(out=path, progress=interrupt, save=4, on_interrupt="return")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (run.status, run.t_reached) == ("STOPPED", pytest.approx(0.31))
    assert run.stop.reason.startswith("KeyboardInterrupt")
    same(run, Trajectory.load(path))
    same(whole(4), block(save=4, out=path, resume=True))


def test_where_nothing_is_to_be_resumed_the_run_begins(tmp_path):
    same(whole(1, 0.1), block(0.1, out=tmp_path / "run.h5", resume=True))


def test_memory_during_a_run_does_not_grow_with_its_steps(tmp_path, monkeypatch):
    sizes = []
    packed = storage.packed
    monkeypatch.setattr(storage, "packed", lambda run, **marks: sizes.append(len(run.steps.t)) or packed(run, **marks))
    block(1.0, save=50, out=tmp_path / "run.h5", chunk=20)
    assert sizes == [0] + [20] * 5


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A run that ended after 20 steps, which tests leave as it is."""
    path = tmp_path_factory.mktemp("ended") / "run.h5"
    killed(path, 20, chunk=5)
    return path


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"save": 2}, "save = 2"),
        ({"examine": "full"}, 'examine = "full"'),
        ({"stepper": MoreauJean(dt=0.02)}, "stepper.dt = 0.02"),
        ({"on_failure": "record"}, "on_failure"),
        ({"control": None}, "control = false"),
        ({"state": State(q=[0.06, 0.8], v=[0.0, 0.5])}, "start"),
        ({"scene_or_system": Block(0.3, 0.4)}, "scene"),
    ],
)
def test_other_settings_are_refused_with_the_difference(ended, changes, named):
    given = {
        "scene_or_system": Shaken(mu_g=1.5), "state": START, "t_end": 1.0, "stepper": COARSE, "control": shaken,
        "examine": "cheap", **changes,
    }  # fmt: skip
    with pytest.raises(InputError) as error:
        simulate(**given, out=ended, resume=True)
    assert named in str(error.value)
    assert len(Trajectory.load(ended).steps.t) == 20


def test_other_parameters_of_a_scene_and_other_versions_are_told(tmp_path, monkeypatch):
    def scene(k):
        about = {"name": "spring", "title": "", "source": "", "params": {"k": k}}
        return Scene(**about, system=Oscillator(k), state=State(q=[1.0], v=[0.0]), t_end=0.2, dt=0.02)

    path = tmp_path / "run.h5"
    simulate(scene(1.0), out=path, t_end=0.1)
    with pytest.raises(InputError, match=r"params.k = 2.0; allowed: params.k = 1.0"):
        simulate(scene(2.0), out=path, resume=True)
    monkeypatch.setattr("gaussdyn.integrate.simulate.versions", lambda: {"numpy": "0"})
    with pytest.warns(UserWarning, match="other versions"):
        simulate(scene(1.0), out=path, resume=True)


def test_an_interrupted_run_is_not_overwritten(ended):
    with pytest.raises(InputError, match="interrupted run"):
        block(out=ended)
    with pytest.raises(InputError, match="interrupted run"):
        whole(1, 0.1).save(ended)
    assert len(Trajectory.load(ended).steps.t) == 20


def test_a_run_replaces_an_older_one_only_at_its_end(tmp_path):
    path = tmp_path / "run.h5"
    block(0.1, out=path)
    killed(path, 20, chunk=5)
    with storage_file(path) as older:
        assert older.attrs["state_hash"] == whole(1, 0.1).state_hash
    assert len(Trajectory.load(path).steps.t) == 20
    same(whole(), block(out=path, resume=True))


def storage_file(path):
    import h5py

    return h5py.File(path, "r")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"chunk": 0}, "chunk"),
        ({"chunk": 1.5}, "chunk"),
        ({"chunk": True}, "chunk"),
        ({"out": None, "resume": True}, "resume"),
        ({"out": None, "chunk": 5}, "chunk"),
        ({"out": 3}, "out"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, name):
    with pytest.raises(InputError, match=name):
        block(0.05, **{"out": tmp_path / "run.h5", **options})
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_refused_before_any_work(tmp_path):
    foreign = tmp_path / "thesis.h5"
    foreign.write_text("three years of work")

    def never(t, t_end):
        raise AssertionError("a step was taken")

    for path in (tmp_path, tmp_path / "no" / "run.h5", foreign, Path("/proc/run.h5")):
        with pytest.raises(InputError, match=r"path|out"):
            block(out=path, progress=never)
    assert foreign.read_text() == "three years of work"
    with pytest.raises(SceneError, match="not a readable"):
        block(out=foreign, resume=True)


def test_damaged_and_missing_chunks_are_named(tmp_path):
    path = tmp_path / "run.h5"
    killed(path, 30, chunk=5)
    parts = sorted((tmp_path / "run.h5.parts").glob("*.h5"))
    whole = parts[3].read_bytes()
    parts[3].write_bytes(whole[:1000])
    with pytest.raises(SceneError, match="000003"):
        Trajectory.load(path)
    parts[3].unlink()
    with pytest.raises(SceneError, match=r"step 11.*missing"):
        Trajectory.load(path)
    with pytest.raises(SceneError, match="missing"):
        block(out=path, resume=True)
    assert len(list((tmp_path / "run.h5.parts").glob("*.h5"))) == len(parts) - 1


def test_two_processes_do_not_write_one_run(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "run.h5"
    refused = []

    def meanwhile(t, t_end):
        if not refused:
            with pytest.raises(InputError, match="other process") as error:
                block(0.1, out=path, resume=True)
            refused.append(error)

    assert block(0.1, out=path, chunk=2, progress=meanwhile).status == "COMPLETED"
    assert refused


PROGRAM = """
    import sys, resource, signal
    sys.path[:0] = {paths!r}
    from test_checkpoints import block
    if len(sys.argv) > 4:
        block(0.05)  # the cache of the kernels is written first
        sys.dont_write_bytecode = True  # of modules it would be cut, and kept
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
    from gaussdyn.errors import InputError
    try:
        run = block(float(sys.argv[2]), out=sys.argv[1], chunk=5, save=3, resume=sys.argv[3] == "resume")
    except InputError as error:
        print("REFUSED", error)
    else:
        print(run.state_hash)
"""


def program(path, t_end, *words):
    """Start a process that runs the block."""
    here = Path(__file__).parent
    text = textwrap.dedent(PROGRAM).format(paths=[str(here), str(here.parents[1])])
    command = [sys.executable, "-c", text, str(path), str(t_end), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", first(1, [1, 2, 3, 4], rest=pytest.mark.nightly))
def test_sigkill_at_a_random_moment(tmp_path, seed):
    path, random = tmp_path / "run.h5", np.random.default_rng(seed)
    kills = 0
    for _ in range(4):
        process = program(path, 8.0, "resume")
        while not (tmp_path / "run.h5.parts" / "000000.h5").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0.0, 0.8))
        process.kill()
        process.wait()
        kills += process.returncode == -signal.SIGKILL
        there = Trajectory.load(path)
        assert len(there.steps.t) % 5 == 0 or there.status == "COMPLETED"
    assert kills
    answer, _ = program(path, 8.0, "resume").communicate(timeout=300)
    assert answer.strip() == whole(3, 8.0).state_hash
    same(whole(3, 8.0), Trajectory.load(path))


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_written(tmp_path):
    path = tmp_path / "run.h5"
    block(0.02, out=tmp_path / "small.h5", save=3)
    room = 40_000  # enough for a chunk and not for the run
    answer, errors = program(path, 3.0, "new", room).communicate(timeout=300)
    assert "REFUSED out" in answer, (answer, errors)
    assert "df -h" in answer
    assert "then --resume, resume=True" in answer
    assert len(Trajectory.load(path).steps.t) > 0
    answer, _ = program(path, 3.0, "resume").communicate(timeout=300)
    assert answer.strip() == block(3.0, save=3).state_hash
    none, _ = program(tmp_path / "none.h5", 3.0, "new", 100).communicate(timeout=300)
    assert "REFUSED out" in none
    assert "none.h5" not in " ".join(file.name for file in tmp_path.iterdir())
