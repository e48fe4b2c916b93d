"""The built pages: no dead link, nothing from elsewhere; in a browser no message, no overflow, a search that finds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browsing import BROWSER, busy, timed

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
pytest.importorskip("material", reason="the extra docs is not installed")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
DRIVER = Path(__file__).with_name("site_driver.html")
PHONE = 390


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, with pictures of the scenes, as `make docs` builds them."""
    place = tmp_path_factory.mktemp("site") / "site"
    for script in ("docs/gallery.py", "docs/pictures.py"):
        subprocess.run([sys.executable, script], cwd=ROOT, check=True, timeout=600)
    words = [sys.executable, "-m", "mkdocs", "build", "-q", "--site-dir", str(place)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return place


class Addresses(HTMLParser):
    """Collects what a page loads and links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attributes}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        loads = tag in ("script", "img", "link") and found.get("rel") not in ("canonical", "prev", "next")
        self.loads += [found[key] for key in ("src", "href") if loads and key in found]
        self.links += [found["href"]] if tag == "a" and "href" in found else []


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Addresses]:
    return {
        path: Addresses(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"
    }


def test_no_link_is_dead(site: Path, pages: dict[Path, Addresses]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else None
            if not target.exists() or (parts.fragment and known is not None and unquote(parts.fragment) not in known):
                dead.append((path.name, link))
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Addresses]) -> None:
    assert {load for page in pages.values() for load in page.loads if urlsplit(load).netloc} == set()


def test_every_scene_with_shapes_has_its_picture(site: Path) -> None:
    from gaussdyn import build
    from gaussdyn.scenes import catalogue

    text = (site / "gallery.html").read_text(encoding="utf-8")
    drawn = set(re.findall(r'src="gallery/(\w+)\.svg"', text))
    with_shapes = {name for name in catalogue.names() if build(name).system.drawables(build(name).state.q)}
    assert drawn == with_shapes
    assert len(re.findall(r">(\d+) of \1 exact answers met", text)) == text.count("exact answers met") > 60


PICTURES = {
    "b18": ["branches", "reactions_along_the_line"],
    "b24": ["crossing", "near", "tangency"],
    "g93": ["bar_on_supports", "slack_string"],
    "i09": ["equilibria_held_by_friction", "how_many_accelerations", "stick_and_slip_on_a_belt"],
    "k08": ["convergence", "energy_as_constraint"],
}


@pytest.mark.parametrize("paper", PICTURES)
def test_every_paper_has_its_pictures(site: Path, paper: str) -> None:
    folder = site / "papers"
    text = (folder / f"{paper}.html").read_text(encoding="utf-8")
    found = re.findall(rf'src="(\.\./gallery/papers/{paper}/\w+\.svg)"', text)
    assert [Path(one).stem for one in found] == PICTURES[paper]
    assert all("<path" in (folder / one).read_text(encoding="utf-8") for one in found)


def test_public_names_say_where_they_are_used(site: Path) -> None:
    text = (site / "api" / "integrate.html").read_text(encoding="utf-8")
    after = text[text.index('id="gaussdyn.integrate.simulate.simulate"') :]
    assert "examples.html#heavy_on_light" in after[after.index("Used in:") :][:3000]


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_pages_in_a_browser(site: Path, tmp_path: Path, width: int) -> None:
    """Nothing on the console, nothing too wide, contrast of WCAG AA in both schemes, all of it named and in reach."""
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.name != "404.html")
    driver = site / "driver_of_the_test.html"
    text = DRIVER.read_text(encoding="utf-8").replace("WIDTH", str(width)).replace("PAGES", json.dumps(names))
    driver.write_text(text, encoding="utf-8")
    words = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--allow-file-access-from-files", "--enable-logging=stderr",
        "--v=0", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1400,900", "--virtual-time-budget=120000",
        "--dump-dom", driver.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    driver.unlink()
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line] == []
    answer = re.search(r'<p id="answer">(.*?)</p>', done.stdout, re.DOTALL)
    assert answer is not None
    found = json.loads(unescape(answer.group(1)))
    assert found.pop("hits") >= 5
    said, first, *_ = found.pop("slid")
    assert said == "h 0.01 m"
    assert float(first.removeprefix("time of the first impact (s): ")) == pytest.approx(
        (2 * 0.01 / 9.81) ** 0.5, rel=1e-5
    )
    assert found == {"wide": [], "faint": [], "unnamed": [], "unreached": [], "heads": []}


@pytest.mark.nightly  # it takes times
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_pages_are_there_within_a_second(site: Path, tmp_path: Path) -> None:
    """The fastest of five loads, for the largest pages and the first ones."""
    names = ["index.html", "gallery.html", "scenes.html", "api.html", "api/mechanics.html", "examples.html"]
    if busy():
        pytest.skip("the machine is busy with other work")
    found = timed(site, names, tmp_path / "profile")
    assert {name: min(times) for name, times in found["ready"].items() if min(times) > 1000.0} == {}


def test_pages_are_small_enough_to_be_there_at_once(site: Path) -> None:
    """A page and all that it loads before it is ready; pictures of the gallery are loaded when they come into sight."""
    shared = sum(path.stat().st_size for path in (site / "assets").rglob("*.min.*s"))
    assert shared < 600_000
    assert {path.name for path in site.rglob("*.html") if path.stat().st_size > 1_200_000} == set()
    assert 'loading="lazy"' in (site / "gallery.html").read_text(encoding="utf-8")
