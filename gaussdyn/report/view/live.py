"""A run in the browser while it is computed: pages and films for this machine alone, at a secret address."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from ...errors import InputError
from ...integrate.run.trajectory import Trajectory
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System
from ..needs import TREE_PAGE, check_format
from ..page_template import figure, filled
from ..subject import subject
from .view_page import film_values

HOST = "127.0.0.1"  # the loopback address: no other machine can reach it
OFTEN = 0.25  # s between two films at least
SHARE = 0.1  # of the time of a run that its films may take
PATIENCE = 20.0  # s that an answer is held back until there is something new
FIRST_LOOK = 10.0  # s that a run which is over waits for a browser to come
LAST_LOOK = 3.0  # s that it waits for one that was there
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A film and its number; said: how far the run is, in words; over: whether it has ended."""

    number: int
    film: str
    said: str
    over: bool

    def document(self) -> bytes:
        """Return it as `live.js` reads it."""
        values = {"number": self.number, "film": self.film, "said": self.said, "over": self.over}
        return json.dumps(values).encode()


class LiveView:
    """Shows a run in the browser while it is computed.

    A server on the loopback address answers two requests, for a page and for the newest film, both under a random
    token; whatever else is asked for is not there. It ends with the block::

        with LiveView(scene) as live:
            print(live.address)
            live.finish(simulate(scene, watch=live.watch))

    Films are made when a page asks, and take a tenth of the time of the run at most.

    Parameters
    ----------
    scene : Scene or System
        What is run.
    state : State, optional
        Where a system starts; a scene brings its own.

    Raises
    ------
    BackendMissing
        If jinja2 is not installed.
    InputError
        The system has nothing to draw.
    """

    def __init__(self, scene: Scene | System, state: State | None = None) -> None:
        check_format("view", Path("view.html"), TREE_PAGE)
        self.scene = scene
        start = scene.state if isinstance(scene, Scene) else state
        system = scene.system if isinstance(scene, Scene) else scene
        if start is None or not system.drawables(start.q):
            raise InputError("view", "nothing", "a system that has shapes to draw", "Run it without --view.")
        self.token = secrets.token_urlsafe(24)
        self.page = b""
        self.still: Still | None = None
        self.wanted = True  # the first film is
        self.given = 0  # number of the newest film that a page has
        self.due = 0.0
        self.change = threading.Condition()
        self.server = ThreadingHTTPServer((HOST, 0), _handler(self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        return f"http://{HOST}:{self.server.server_port}/{self.token}/"

    def __enter__(self) -> LiveView:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self.server.shutdown()
        self.server.server_close()

    def watch(self, so_far: Callable[[], Trajectory]) -> None:
        """Make a film of the run so far if a page waits for one; for `simulate(watch=)`."""
        if not self.wanted or time.monotonic() < self.due:
            return
        begin = time.monotonic()
        run = so_far()
        self._show(run, f"being computed: t = {figure(run.t_reached, 4)} s of {figure(run.settings['t_end'], 4)} s")
        now = time.monotonic()
        self.due = now + max(OFTEN, (now - begin) * (1.0 / SHARE - 1.0))

    def finish(self, run: Trajectory) -> None:
        """Show all of a run, and wait a few seconds until a page has it.

        After an interrupt nobody is waited for that has not looked before.
        """
        reason = f": {run.stop.reason}" if run.stop is not None else ""
        self._show(run, f"{run.status} at t = {figure(run.t_reached)} s{reason}", over=True)
        last = self.still.number if self.still is not None else 0
        wait = LAST_LOOK if self.given else 0.0 if run.interrupted else FIRST_LOOK
        with suppress(KeyboardInterrupt), self.change:
            self.change.wait_for(lambda: self.given >= last, timeout=wait)

    def _show(self, run: Trajectory, said: str, *, over: bool = False) -> None:
        """Put a new film in the place of the last one."""
        scene = subject(run, self.scene)
        values = film_values(run, scene, live=True)
        if values["film"] is None:
            return
        if not self.page:
            title = scene.title if scene is not None else run.scene
            self.page = filled("view/live.html", title=title, name=run.scene, run=run, **values).encode()
        with self.change:
            number = 1 if self.still is None else self.still.number + 1
            self.still = Still(number=number, film=values["film"], said=said, over=over)
            self.wanted = False
            self.change.notify_all()

    def newer(self, seen: int) -> Still | None:
        """Return a film that a page has not seen; None if there is none within some seconds."""
        with self.change:
            if self.still is None or self.still.number <= seen:
                self.wanted = True
                self.change.notify_all()
                self.change.wait_for(lambda: self.still is not None and self.still.number > seen, timeout=PATIENCE)
            return self.still if self.still is not None and self.still.number > seen else None

    def taken(self, still: Still) -> None:
        """Note that a page has a film."""
        with self.change:
            self.given = max(self.given, still.number)
            self.change.notify_all()


def _handler(live: LiveView) -> type[BaseHTTPRequestHandler]:
    """Return what answers requests about a run."""

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "gaussdyn", ""

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if not (self._is_ours() and address.path.startswith("/") and self._knows(address.path)):
                self._answer(404, b"", "text/plain")
            elif address.path.endswith("/film"):
                self._film(parse_qs(address.query).get("seen", ["0"])[0])
            else:
                live.newer(0)  # the first film makes the page
                self._answer(200 if live.page else 503, live.page, "text/html; charset=utf-8")

        def _is_ours(self) -> bool:
            """Whether the browser asked for this machine by its own name: other names may lead here by a trick."""
            port = live.server.server_port
            return self.headers.get("Host") in (f"{HOST}:{port}", f"localhost:{port}")

        def _knows(self, path: str) -> bool:
            return any(secrets.compare_digest(path.encode(), f"/{live.token}/{end}".encode()) for end in ("", "film"))

        def _film(self, seen: str) -> None:
            still = live.newer(int(seen)) if seen.isascii() and seen.isdigit() else None
            self._answer(200, b"null" if still is None else still.document(), "application/json")
            if still is not None:
                live.taken(still)

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            try:
                self.send_response(status)
                for name, value in (
                    ("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
                    ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
                    ("Content-Security-Policy", POLICY),
                ):  # fmt: skip
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return  # the page was closed

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing: standard error is for the run."""

    return Handler
