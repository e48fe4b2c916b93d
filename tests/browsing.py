"""A headless browser on a folder of pages, in real time: a server on the loopback address has what it finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 120
BUSY = 2.0  # load per core: above it times are not those of pages
DRIVER = """<!doctype html><body><script>
const load = (name) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.style = "border:0;width:1200px;height:900px";
  frame.onload = () => setTimeout(() => done(frame), 50);
  frame.src = name;
  document.body.append(frame);
});
(async () => {
  const found = { ready: {}, frames: {} };
  for (const name of PAGES) {
    found.ready[name] = [];
    for (let k = 0; k < 5; k += 1) {
      const frame = await load(name), [entry] = frame.contentWindow.performance.getEntriesByType("navigation");
      found.ready[name].push(entry.loadEventEnd);
      const player = frame.contentWindow.gaussdynPlayer;
      if (k === 0 && player && player.space) {
        const costs = [];
        for (let i = 0; i < 60; i += 1) { player.show(i % player.film.t.length); costs.push(player.space.state.cost); }
        found.frames[name] = costs.sort((a, b) => a - b);
      }
      frame.remove();
    }
  }
  await fetch("/answer", { method: "POST", body: JSON.stringify(found) });
})();
</script>"""


def busy() -> bool:
    """Tell whether other work on this machine leaves a browser no time."""
    return os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)


class _Server(ThreadingHTTPServer):
    """Says nothing of pages that are left before all of their pictures have come."""

    def handle_error(self, *_: Any) -> None:
        """Nothing to do."""


class _Handler(SimpleHTTPRequestHandler):
    """Hands out a folder, and keeps what is posted."""

    answer: dict[str, Any]
    there: threading.Event

    def do_POST(self) -> None:
        self.answer.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        self.there.set()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def timed(folder: Path, pages: list[str], profile: Path) -> dict[str, dict[str, list[float]]]:
    """Return by page the milliseconds to its load event (five loads), and of 60 frames of its view, fastest first.

    A frame is the script that draws it; how long the graphics take is for the hardware to say.
    """
    answer: dict[str, Any] = {}
    there = threading.Event()
    kind = type("Handler", (_Handler,), {"answer": answer, "there": there})
    (folder / "timing_of_the_test.html").write_text(DRIVER.replace("PAGES", json.dumps(pages)), encoding="utf-8")
    server = _Server(("127.0.0.1", 0), partial(kind, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    words = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", f"--user-data-dir={profile}",
        "--window-size=1300,1000", f"http://127.0.0.1:{server.server_port}/timing_of_the_test.html",
    ]  # fmt: skip
    browser = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert there.wait(SECONDS), "the browser did not answer"
    finally:
        browser.terminate()
        browser.wait()
        server.shutdown()
        server.server_close()
        (folder / "timing_of_the_test.html").unlink()
    return answer
