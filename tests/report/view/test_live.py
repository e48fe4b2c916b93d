"""A run in the browser while it is computed: who asks at its address gets films, and nothing else is there."""

from __future__ import annotations

import json
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jinja2")

from gaussdyn import InputError, Position, State, UserSystem, build, simulate
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.report.view import live as module
from gaussdyn.report.view.live import LiveView


def fetch(address: str, **headers: str) -> tuple[int, str]:
    """Return the status and the text of an answer."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Reader(threading.Thread):
    """A page: asks for films until the run is over."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address, self.found = address, list[dict[str, Any]]()

    def run(self) -> None:
        while not (self.found and self.found[-1]["over"]):
            seen = self.found[-1]["number"] if self.found else 0
            answer = json.loads(fetch(f"{self.address}film?seen={seen}")[1])
            self.found += [answer] if answer else []


def stepwise(live: LiveView, reader: Reader) -> Callable[[Callable[[], Trajectory]], None]:
    """Return what watches a run and lets the page see a film after every step."""

    def watch(so_far: Callable[[], Trajectory]) -> None:
        before, live.due = len(reader.found), 0.0
        with live.change:
            live.change.wait_for(lambda: live.wanted, timeout=20)
        live.watch(so_far)
        while len(reader.found) == before and reader.is_alive():
            reader.join(0.005)

    return watch


def test_a_page_sees_the_run_grow_to_its_end() -> None:
    scene = build("launched_cube")
    with LiveView(scene) as live:
        reader = Reader(live.address)
        reader.start()
        run = simulate(scene, t_end=100 * scene.dt, watch=stepwise(live, reader))
        live.finish(run)
        status, page = fetch(live.address)
        reader.join(20)
    assert status == 200
    assert scene.title in page
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    n = len(reader.found)
    assert n > 3  # the start, several calls of many steps, and the end
    assert [one["number"] for one in reader.found] == list(range(1, n + 1))
    assert [one["over"] for one in reader.found] == [False] * (n - 1) + [True]
    times = [re.match(r"being computed: t = (\S+) s of (\S+) s", one["said"]) for one in reader.found[:-1]]
    said = [float(one[1]) for one in times if one is not None]
    assert said == sorted(set(said))
    assert (said[0], len(said)) == (0.0, n - 1)
    assert reader.found[-1]["said"].startswith("COMPLETED at t = ")
    lengths = [len(one["film"]) for one in reader.found]
    assert lengths[0] < lengths[-2] == lengths[-1]


def test_nothing_else_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAST_LOOK", 0.0)
    scene = build("incline", mu=0.2)
    with LiveView(scene) as live:
        live.watch(lambda: simulate(scene, t_end=scene.dt))
        port, root = live.server.server_port, live.address.removesuffix(f"{live.token}/")
        assert live.server.server_address[0] == "127.0.0.1"
        assert len(live.token) >= 32
        assert fetch(f"{live.address}film?seen=0")[0] == 200
        wrong = [root, f"{root}film", f"{root}{'x' * 32}/", f"{live.address}../", f"{live.address}other"]
        assert [fetch(one) for one in wrong] == [(404, "")] * 5
        assert fetch(live.address, Host=f"elsewhere.example:{port}") == (404, "")  # a name that leads here by a trick
        assert fetch(live.address, Host=f"localhost:{port}")[0] == 200
        assert fetch(f"{live.address}film?seen=-1") == (200, "null")
        with pytest.raises(urllib.error.HTTPError, match="501"):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(live.address, data=b"")
        live.finish(simulate(scene, t_end=scene.dt))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_films_are_made_when_a_page_asks_and_take_little_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    scene = build("incline", mu=0.2)
    run, made = simulate(scene, t_end=scene.dt), []

    def so_far() -> Trajectory:
        made.append(clock[0])
        clock[0] += 1.0  # a film takes a second
        return run

    live = LiveView(scene)
    live.watch(so_far)  # the first one waits for nobody
    live.watch(so_far)
    assert made == [0.0]
    live.wanted = True
    for clock[0] in (1.5, 9.9, 10.0, 10.1):
        live.watch(so_far)
    assert made == [0.0, 10.0]
    live.server.server_close()


def test_what_has_nothing_to_draw_is_refused_before_it_runs() -> None:
    block = UserSystem(1, [[2.0]], [-1.0], [Position(lambda t, q: q[0], name="ground")])
    with pytest.raises(InputError, match="--view"):
        LiveView(block, State(q=[0.0], v=[0.0]))
