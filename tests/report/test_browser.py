"""The page in a real browser: no message on the console, keys work, nothing wider than a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("plotly")

from gaussdyn import MoreauJean, build, simulate
from gaussdyn.report.page import write_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

FRAME = """<iframe id="page" src="page.html" style="border:0;width:{width}px;height:900px"></iframe>
<p id="answer"></p><script>
const colours = (inside, player) => {{ // different bytes in the picture, read in the task in which it is drawn
  const stage = inside.document.getElementById("stage"), {{ width, height }} = stage;
  if (!player.space) return new Set(stage.getContext("2d").getImageData(0, 0, width, height).data).size;
  const gl = stage.getContext("webgl2"), bytes = new Uint8Array(4 * width * height);
  player.show(player.frame());
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  return new Set(bytes).size;
}};
page.onload = () => setTimeout(() => {{
  const inside = page.contentWindow, player = inside.gaussdynPlayer, body = inside.document.body;
  const press = (key, more, on) =>
    (on || body).dispatchEvent(new inside.KeyboardEvent("keydown", {{ key, bubbles: true, ...more }}));
  const whole = inside.document.documentElement, found = [whole.scrollWidth <= whole.clientWidth];
  press("ArrowRight"); found.push(player.frame());
  press("ArrowRight", {{ shiftKey: true }}); found.push(player.frame());
  press("ArrowLeft"); found.push(player.frame());
  press(" "); found.push(player.playing());
  press(" "); found.push(player.playing());
  const last = inside.document.getElementById("scrub").max;
  press("End"); found.push(player.frame() === Number(last));
  press("Home"); found.push(player.frame());
  const add = (tag, where) => where.appendChild(inside.document.createElement(tag));
  const link = add("a", body), field = add("input", body), table = add("table", add("div", body));
  table.parentNode.className = "scroll";
  press("End", {{}}, link); found.push(player.frame() === Number(last));
  press("Home", {{}}, field); found.push(player.frame() === Number(last));
  press("Home", {{}}, table); found.push(player.frame() === Number(last));
  press("Home", {{}}, inside.document.getElementById("scrub")); found.push(player.frame());
  [link, field, table.parentNode].forEach((one) => one.remove());
  found.push(colours(inside, player) > 20);
  answer.textContent = found.join(" ");
}}, 1500);
</script>"""


def browse(folder: Path, page: Path) -> tuple[str, str]:
    """Return the page as it is after its scripts, and what the console said."""
    words = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--allow-file-access-from-files",
        f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--v=0", "--window-size=1280,1000",
        "--virtual-time-budget=6000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=180)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line]
    said = [line for line in said if "GL Driver Message (OpenGL, Performance" not in line]  # of reading pixels back
    return done.stdout, "\n".join(said)


@pytest.mark.parametrize("name", ["sliding_rod", "launched_cube", "painleve_rod"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_plays_and_the_console_is_silent(tmp_path: Path, name: str, width: int) -> None:
    scene = build(name)
    run = simulate(scene, t_end=40 * scene.dt, examine="cheap")
    write_page(tmp_path / "page.html", run, scene=scene)
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    text, said = browse(tmp_path, tmp_path / "frame.html")
    assert said == ""
    answer = re.search(r'<p id="answer">(.*?)</p>', text)
    assert answer is not None
    keys = ["true", "0", "true", "true", "true", "0"]  # to the end and back; of a link; not of a field or a table
    assert answer.group(1).split() == ["true", "1", "11", "10", "true", "false", *keys, "true"]


TURNING = """<iframe id="page" src="view.html" style="border:0;width:800px;height:900px"></iframe>
<p id="answer"></p><script>
page.onload = () => setTimeout(() => {
  const inside = page.contentWindow, { space, film, ...player } = inside.gaussdynPlayer, found = [];
  const stage = inside.document.getElementById("stage"), gl = stage.getContext("webgl2");
  const picture = () => {
    const bytes = new Uint8Array(4 * stage.width * stage.height);
    player.show(player.frame());
    gl.readPixels(0, 0, stage.width, stage.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    return bytes;
  };
  const differ = (a, b) => a.reduce((sum, x, k) => sum + (x !== b[k]), 0) / a.length;
  const shape = (k) => (k < 0 ? "none" : film.shapes[k].name);
  const click = (x, y) => {
    const at = { clientX: stage.offsetLeft + x * stage.clientWidth, clientY: stage.offsetTop + y * stage.clientHeight };
    stage.dispatchEvent(new inside.PointerEvent("pointerdown", { ...at }));
    stage.dispatchEvent(new inside.PointerEvent("click", { ...at }));
  };
  inside.document.querySelector("#shown [name=cones]").click();
  click(0.42, 0.45); found.push(shape(space.state.picked));
  inside.document.body.dispatchEvent(new inside.KeyboardEvent("keydown", { key: "f", bubbles: true })); // follow it
  const start = picture();
  stage.dispatchEvent(new inside.PointerEvent("pointermove", { buttons: 1, movementX: 120, movementY: 20 }));
  found.push(differ(start, picture()) > 0.02); // it turned
  player.show(film.t.length - 1);
  click(0.5, 0.5); found.push(shape(space.state.picked)); // so it is in the middle
  const words = inside.document.getElementById("picked");
  found.push(words.hidden, /at .* m . turn .*contacts, force .* N/.test(words.textContent) || words.textContent);
  click(0.02, 0.03); found.push(shape(space.state.picked), words.hidden);
  answer.textContent = found.join("|");
}, 1500);
</script>"""


def test_a_run_in_space_turns_and_says_what_was_picked(tmp_path: Path) -> None:
    scene = build("launched_cube")
    run = simulate(scene, t_end=40 * scene.dt)
    run.view(tmp_path / "view.html", scene=scene)
    (tmp_path / "frame.html").write_text(TURNING, encoding="utf-8")
    text, said = browse(tmp_path, tmp_path / "frame.html")
    assert said == ""
    answer = re.search(r'<p id="answer">(.*?)</p>', text)
    assert answer is not None
    assert answer.group(1).split("|") == ["cube", "true", "cube", "false", "true", "none", "true"]


def test_the_page_of_10_000_steps_is_small(tmp_path: Path) -> None:
    scene = build("sliding_rod")
    long = simulate(scene, stepper=MoreauJean(dt=scene.t_end / 10_000))
    page = write_page(tmp_path / "page.html", long, scene=scene)
    assert int(long.statistics["steps"] or 0) >= 10_000
    assert page.stat().st_size < 4e6
