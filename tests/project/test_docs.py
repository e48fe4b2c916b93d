"""Every Python block of README and docs runs as it stands; links and commands exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)\)")
COMMAND = re.compile(r"^gaussdyn ([a-z]+)", re.MULTILINE)

QUICK = ("README.md", "certificates.md", "formats.md", "index.md", "outcomes.md", "quickstart.md", "solver.md")
with_code = [
    pytest.param(page, marks=() if page.name in QUICK else pytest.mark.slow, id=page.name)
    for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8")) and page.parent.name != "tutorials"
]  # fmt: skip


@pytest.mark.parametrize("page", with_code)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name == "robots.md":
        pytest.importorskip("mujoco", reason="MuJoCo (the extra mjcf) is not installed")
    for model in (ROOT / "examples").glob("*.xml"):
        shutil.copy(model, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text[: match.start(1)].count("\n")
        exec(compile("\n" * line + match.group(1), str(page), "exec"), names)


def test_the_readme_example_says_what_it_computes(capsys: pytest.CaptureFixture[str]) -> None:
    block = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert block is not None
    code = [line for line in block.group(1).splitlines() if line.strip()]
    names: dict[str, object] = {}
    exec(block.group(1), names)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("SOLVED")
    answer, run = names["at_rest"], names["run"]
    assert abs(answer.x[0]) < 1e-12  # type: ignore[attr-defined]
    assert abs(answer.r[0] - 19.62) < 1e-12  # type: ignore[attr-defined]
    fall = (2 * 1.0 / 9.81) ** 0.5
    impacts = [fall * (1 + 2 * sum(0.5**j for j in range(1, k + 1))) for k in range(10)]
    assert run.event_counts["touchdown"] == sum(t < 1.2 for t in impacts), second  # type: ignore[attr-defined]
    assert len(code) <= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    from gaussdyn.cli import app

    verbs = {command.callback.__name__ for command in app.registered_commands if command.callback}
    verbs |= {group.typer_instance.info.name for group in app.registered_groups if group.typer_instance}
    for verb in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert verb in verbs


SPAN = re.compile(r"\d[\d.,]*(?: to [\d.,]+)? ?(?:µs|us|ms|microseconds?|milliseconds?|minutes|s of CPU time|CPU s)\b")
LENGTH_OF_STEP = re.compile(r"(?:dt|steps?|step of) ?(?:=|at|of)? ?[\d.,]+(?:, [\d.]+)*(?: and [\d.]+)? ms")
PRINTS = re.compile(r"python benchmarks/(\w+\.py)|gaussdyn (?:bench|run|solve|warmup)")
NAMED = re.compile(r"\b((?:benchmarks|tests)/[\w/]+\.py)\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_times_stand_beside_the_command_that_prints_them(page: Path) -> None:
    """Section by section; and every benchmark and test that a page names exists."""
    text = page.read_text(encoding="utf-8")
    for section in re.split(r"^(?=#)", text, flags=re.MULTILINE):
        prose = LENGTH_OF_STEP.sub("", re.sub(r"```.*?```", "", section, flags=re.DOTALL))
        assert PRINTS.search(section) or not SPAN.search(prose), (SPAN.findall(prose), section[:60])
    for file in NAMED.findall(text):
        assert (ROOT / file).is_file(), file


def test_symbol_table_has_the_field_letters() -> None:
    table = (ROOT / "docs" / "symbols.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`([^`]+)`", " ".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    letters = {
        "t",
        "dt",
        "q",
        "v",
        "a",
        "M",
        "h",
        "G",
        "lam",
        "J",
        "W",
        "r",
        "u",
        "mu",
        "gap",
        "x",
        "w",
        "B",
        "E",
        "rho",
        "p",
        "L",
        "R",
        "N",
        "F",
        "alpha",
        "dr",
        "du",
        "dv",
        "q1",
        "v1",
    }
    assert letters - known == set()


def test_the_navigation_names_every_page_once() -> None:
    """The navigation names every page once, and nothing else."""
    named = re.findall(r": ([a-z0-9_/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(named) == sorted(page.relative_to(docs).as_posix() for page in docs.glob("**/*.md"))


@pytest.mark.slow
@pytest.mark.xdist_group("site")  # test_site.py draws pictures that this takes along
def test_the_pages_build_with_all_links_right(tmp_path: Path) -> None:
    """Where the extra docs is installed; `make docs` does the same in an environment of its own."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    words = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    import gaussdyn

    api = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site" / "api").glob("*.html"))
    listed = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in gaussdyn.__all__:
        assert f'.{name}"' in api, name
        assert f'.{name}">{name}</a>' in listed, name
    for path in (
        "programs.laws.Coulomb",
        "integrate.impact.impact.impact",
        "analysis.singular.branches",
        "errors.GaussdynError",
    ):
        assert f'id="gaussdyn.{path}"' in api, path
    from gaussdyn.scenes.catalogue import names

    catalogue = (tmp_path / "site" / "scenes.html").read_text(encoding="utf-8")
    for name in names():
        assert f'id="{name}"' in catalogue, name


def test_the_catalogue_page_has_every_scene_with_parameters_and_exact_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import hooks  # type: ignore[import-not-found]

    from gaussdyn import __all__ as public
    from gaussdyn.scenes.catalogue import build

    monkeypatch.setattr("gaussdyn.scenes.catalogue.names", lambda: ("incline", "wall_press"))
    page = hooks.on_page_markdown((ROOT / "docs" / "scenes.md").read_text(encoding="utf-8"))
    assert "<!--" not in page
    for name in ("incline", "wall_press"):
        scene, part = build(name), page.split(f"## {name}\n")[1].split("\n## ")[0]
        assert scene.title in part
        assert all(f"| `{key}` |" in part for key in scene.params)
        assert all(f"| {one.name} | {one.value:.12g} |" in part for one in scene.exact)
    api = "".join(hooks.on_page_markdown(path.read_text()) for path in (ROOT / "docs" / "api").glob("*.md"))
    assert all(f".{name}\n" in api for name in public)
    assert ":::" in api
    assert all(api.count(f"::: {module}.{name}\n") == 1 for module, names in hooks.homes().items() for name in names)
    assert "errors.GaussdynError\n" in api
    assert hooks.escaped("a*b < c|d_e") == r"a\*b &lt; c\|d\_e"
    assert hooks.prose("so\n    x^2 = y\nholds") == "so\n\n```text\nx^2 = y\n```\n\nholds"


def test_sliders_of_scenes_have_their_exact_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import gallery  # type: ignore[import-not-found]

    e, h = gallery.sliders("zeno_ball")
    assert (e["name"], h["name"], h["values"][h["at"]]) == ("e", "h", 1.0)
    assert [row[0] for row in h["answers"]] == pytest.approx([(2 * x / 9.81) ** 0.5 for x in h["values"]], rel=1e-6)
    assert [row[1] for row in e["answers"]] == pytest.approx([x * x for x in e["values"]], rel=1e-6)
    assert gallery.answers("zeno_ball", "e", 2.0) == {}  # out of its range
