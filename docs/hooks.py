"""Fills in, when the pages are built, what would go stale if it were written: names, and the scenes."""

from __future__ import annotations

import ast
import json
import re
import sys
from html import escape, unescape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMPORTED = re.compile(r"from (gaussdyn\.[\w.]+) import (\w[\w, ]*)")
APART = ("gaussdyn.scenes", "gaussdyn.cli")  # they have pages of their own
PICTURES, PAGES = ROOT / "build" / "gallery", ROOT / "build" / "pages"
HEADING = re.compile(r'<h[1-4][^>]*\bid="([^"]*)"[^>]*>(.*?)</h[1-4]>', re.DOTALL)
TAG = re.compile(r"<(?:script|style|svg).*?</(?:script|style|svg)>|<[^>]*>", re.DOTALL)
MOST_WORDS = 4000  # characters of a section
INDEX: list[dict[str, str]] = []
DRAWN_SCENES: set[str] = set()  # whose pictures are among the files of this build
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
DRAWN = "<!-- pictures -->"
NAMES_OF = re.compile(r"<!-- names of ([\w ]+) -->")
SHOWN = 6  # places where a name is used
SPECIAL = re.compile(r"([\\`*_{}\[\]#|])")


def on_files(files: Any, config: Any) -> Any:
    """Add the pictures that `gallery.py` has drawn, and the examples as files to take along."""
    from mkdocs.structure.files import File

    found = {f"gallery/{path.name}": path for path in sorted(PICTURES.glob("*.svg"))}
    found |= {f"gallery/{path.relative_to(PAGES).as_posix()}": path for path in sorted(PAGES.rglob("*.svg"))}
    found |= {f"examples/{path.name}": path for path in example_files()}
    DRAWN_SCENES.update(path.stem for place, path in found.items() if place == f"gallery/{path.name}")
    for place, path in found.items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any = None, **more: Any) -> str:
    """Replace the marks by what they stand for."""
    sys.path.insert(0, str(ROOT))
    if DRAWN in markdown:
        markdown = markdown.replace(DRAWN, drawn(page.file.src_uri.removesuffix(".md")))
    marks = {"all names": all_names, "scenes": scenes, "gallery": gallery, "examples": examples}
    for mark, fill in ((f"<!-- {key} -->", fill) for key, fill in marks.items()):
        if mark in markdown:
            markdown = markdown.replace(mark, fill())
    return NAMES_OF.sub(lambda found: names_of(*found[1].split()), markdown)


def on_page_content(html: str, page: Any, **more: Any) -> str:
    """Keep the words of every section of a page for its search."""
    parts = HEADING.split(html)  # before, (anchor, heading, words), ..
    INDEX.extend(
        {"title": f"{page.title}: {told(heading)}" if told(heading) != page.title else page.title,
         "url": f"{page.url}#{anchor}", "text": told(words)[:MOST_WORDS]}
        for anchor, heading, words in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    )  # fmt: skip
    return html


def on_post_build(config: Any) -> None:
    """Write what `search.js` looks into: a script, because a page on a disk may load nothing else."""
    text = json.dumps(INDEX, ensure_ascii=False, separators=(",", ":"))
    Path(config["site_dir"], "search_index.js").write_text(f"window.gaussdynIndex={text};\n", encoding="utf-8")
    INDEX.clear()


def told(text: str) -> str:
    """Return the words of a piece of HTML."""
    return " ".join(unescape(TAG.sub(" ", text)).replace("¶", " ").split())


def homes() -> dict[str, list[str]]:
    """Return the names that have a description, by the modules that offer them: public ones, and what pages import."""
    import gaussdyn

    public, listed = (
        set(gaussdyn.__all__),
        {f"gaussdyn.{module}": set(names) for module, names in gaussdyn._HOME.items()},
    )
    listed["gaussdyn.errors"].add("GaussdynError")
    listed.setdefault("gaussdyn.programs.solution.solution", set()).update(("Solution", "Status"))
    for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*")):
        for module, names in IMPORTED.findall(path.read_text(encoding="utf-8")):
            if not module.startswith(APART):
                listed.setdefault(module, set()).update(set(re.findall(r"\w+", names)) - public)
    kept = {module: [path_of(module, name) for name in sorted(names)] for module, names in sorted(listed.items())}
    return {module: [name for name in names if name] for module, names in kept.items() if any(names)}


def room_of(module: str) -> str:
    """Return the room of a module: the folder, or the file, that it lies in."""
    return module.split(".")[1]


def all_names() -> str:
    """Return a list of every name of a room with what it is, a link to its description before it."""
    pages = {room: path for path in sorted((ROOT / "docs" / "api").glob("*.md")) for room in rooms_on(path)}
    lines, now = [], ""
    for module, names in homes().items():
        if room_of(module) != now:
            now = room_of(module)
            lines.append(f"\n## {now}\n\n| name | what it is |\n| --- | --- |")
        for name in names:
            place = f"{module}.{name}"
            link = f"api/{pages[now].name}#{place}"
            lines.append(f"| [{name.rpartition('.')[2]}]({link}) | {escaped(first_line(module, name))} |")
    return "\n".join(lines) + "\n"


def rooms_on(path: Path) -> list[str]:
    """Return the rooms whose names a page describes."""
    return " ".join(NAMES_OF.findall(path.read_text(encoding="utf-8"))).split()


def first_line(module: str, name: str) -> str:
    """Return the first line of what is said of a name."""
    from inspect import getdoc

    return (getdoc(getattr(import_module(module), name.rpartition(".")[2])) or "").partition("\n")[0]


def names_of(*rooms: str) -> str:
    """Return headings of the modules of some rooms, and the directives of their names."""
    lines, places = [], used()
    for module, names in homes().items():
        if room_of(module) not in rooms:
            continue
        lines.append(f"\n## {module}\n")
        for name in names:
            lines.append(f"\n::: {module}.{name}\n")
            said = [link for link, known in places if name.rpartition(".")[2] in known]
            more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
            lines += [f"\nUsed in: {', '.join(said[:SHOWN])}{more}.\n"] if said else []
    return "\n".join(lines)


def path_of(package: str, name: str) -> str:
    """Return where a name is described, below its package; empty for a module, whose names are listed where it is used.

    A function in a module of the same name goes by both names: sources are read, and there the module comes first.
    """
    place = ROOT.joinpath(*package.split("."), name)
    if place.is_dir() or isinstance(getattr(import_module(package), name), ModuleType):
        return ""
    return f"{name}.{name}" if place.with_suffix(".py").is_file() else name


def used() -> list[tuple[str, set[str]]]:
    """Return a link, from a page of the API, to all that has code, and the names of the package that it imports."""
    found = []
    for path in example_files():
        text = path.read_text(encoding="utf-8")
        found.append((f"[examples/{path.name}](../examples.md#{path.stem})", imported(code_of(path, text))))
    for path in sorted(ROOT.glob("docs/**/*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].lstrip("# ")
        found.append(
            (f"[{title}](../{path.relative_to(ROOT / 'docs').as_posix()})", imported("\n".join(CODE.findall(text))))
        )
    return found


def code_of(path: Path, text: str) -> str:
    """Return the code of an example: all of a script, the cells of a notebook."""
    if path.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def imported(code: str) -> set[str]:
    """Return the names that some code imports from the package."""
    lines = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    return {one.name for node in lines if (node.module or "").startswith("gaussdyn") for one in node.names}


def example_files() -> list[Path]:
    """Return the examples: scripts and notebooks."""
    return sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".ipynb"))


def examples() -> str:
    """Return every example with what it says of itself, its code, and the file to take along."""
    parts = []
    for path in example_files():
        take = f"[{path.name}](examples/{path.name})"
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = notebook(text)
            parts.append(f"## {path.stem} {{: #{path.stem} }}\n\nThe notebook {take}.\n\n{text}")
        else:
            parts.append(f"## {path.stem} {{: #{path.stem} }}\n\nThe script {take}.\n\n```python\n{text}```")
    return "\n\n".join(parts) + "\n"


def notebook(text: str) -> str:
    """Return the words and the code of a notebook; its headings are below those of the page."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        words = re.sub(r"^#", "##", source, flags=re.MULTILINE)
        parts.append(words if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts)


def gallery() -> str:
    """Return a picture of every scene with its title and how near its run came to its exact answers."""
    from gaussdyn.scenes import catalogue

    cards = []
    for name in catalogue.names():
        title = escape(catalogue.build(name).title)
        shown = (
            f'<img loading="lazy" src="gallery/{name}.svg" alt="">'
            if name in DRAWN_SCENES
            else '<span class="none"></span>'
        )
        cards.append(
            f'<a href="scenes.html#{name}">{shown}<strong>{name}</strong><span>{title}</span>{nearness(name)}</a>'
        )
    return '<div class="gallery">\n' + "\n".join(cards) + "\n</div>\n"


def drawn(page: str) -> str:
    """Return the pictures that `pictures.py` has drawn with the code of a page, each with its name below."""
    up = "../" * page.count("/")
    cards = [
        f'<figure><img loading="lazy" src="{up}gallery/{page}/{path.name}" alt="{words}"><figcaption>{words}'
        "</figcaption></figure>"
        for path in sorted((PAGES / page).glob("*.svg"))
        for words in (path.stem.replace("_", " "),)
    ]
    return '<div class="drawn">\n' + "\n".join(cards) + "\n</div>\n" if cards else ""


def nearness(name: str) -> str:
    """Return how many exact answers the run of a scene met."""
    judged = [one for one in kept(name).get("checks", ()) if one["pass"] is not None]
    met = sum(one["pass"] for one in judged)
    return f"<small>{met} of {len(judged)} exact answers met</small>" if judged else ""


def kept(name: str) -> dict[str, Any]:
    """Return what `gallery.py` has kept of a scene; empty where it was not run."""
    path = PICTURES / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def scenes() -> str:
    """Return the catalogue: a list of all scenes, then each with its parameters and exact numbers."""
    from gaussdyn.cli.scenes_command import entry
    from gaussdyn.scenes import catalogue

    entries = [entry(catalogue.build(name), catalogue.parameters(name)) for name in catalogue.names()]
    rows = [(f"[{e['name']}](#{e['name']})", escaped(e["title"]), escaped(", ".join(e["tests"]))) for e in entries]
    parts = [f"{len(entries)} scenes:", table(("scene", "what happens", "what it tests"), rows)]
    for e in entries:
        parts += scene(e, catalogue.description(e["name"]))
    return "\n\n".join(parts) + "\n"


def scene(e: dict[str, Any], description: str) -> list[str]:
    """Return the parts of the entry of one scene."""
    steps = f"{e['t_end']:.4g} s at dt = {e['dt']:.4g} s, {'in space' if e['dim'] == 3 else 'in the plane'}."
    params = [
        (
            f"`{key}`",
            f"{p['default']:.6g}",
            escaped(p["unit"]),
            f"{p['min']:.6g} .. {p['max']:.6g}",
            escaped(p["meaning"]),
        )
        for key, p in e["params"].items()
    ]
    run = kept(e["name"])
    errors = {one["name"]: one["error"] for one in run.get("checks", ())}
    exact = [
        (escaped(x["name"]), f"{x['value']:.12g}", escaped(x["unit"]), figure(errors.get(x["name"])),
         ", ".join(f"{name} {tol:.2g}" for name, tol in sorted(x["tol"].items())))
        for x in e["exact"]
    ]  # fmt: skip
    return [
        f"## {e['name']}",
        f"**{escaped(e['title'])}.** Tests {escaped(', '.join(e['tests']))}. {steps}",
        prose(description),
        *(
            [f"![{escaped(e['title'])}](gallery/{e['name']}.svg){{: .scene loading=lazy }}"]
            if e["name"] in DRAWN_SCENES
            else []
        ),
        f"```python\n{code(e)}```",
        f"Source: {escaped(e['source'])}",
        *([f"Expected to stop: {escaped(e['expected_stop'])}"] if e["expected_stop"] else []),
        table(("parameter", "default", "unit", "range", "meaning"), params),
        table(
            ("exact at the defaults", "value", "unit", f"error of {run.get('stepper', 'a run')}", "tolerance"), exact
        ),
        *slide(e, run.get("sliders", ())),
    ]


def slide(e: dict[str, Any], sliders: Any) -> list[str]:
    """Return what `slide.js` makes sliders of: exact answers of a scene over its parameters, if there are any."""
    known = {"answers": [f"{x['name']} ({x['unit']})" for x in e["exact"]], "parameters": list(sliders)}
    text = escape(json.dumps(known, separators=(",", ":")), quote=True)
    return [f'<div class="slide" data-known="{text}"></div>'] if sliders else []


def code(e: dict[str, Any]) -> str:
    """Return the lines that run a scene and put its exact answers beside."""
    given = "".join(f", {key}={p['default']:.6g}" for key, p in list(e["params"].items())[:3])
    return f"""from gaussdyn import build, simulate

scene = build("{e["name"]}"{given})
run = simulate(scene)
print(run)
for exact in scene.exact:
    print(exact.name, exact.measure(run), "exact:", exact.value, exact.unit)
run.page("{e["name"]}.html", scene=scene)
"""


def figure(x: float | None) -> str:
    """Return an error in two digits; a dash where it is not known."""
    return "–" if x is None else f"{x:.2g}"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def prose(text: str) -> str:
    """Return plain text as Markdown: indented lines are formulas and stay as they are."""
    lines, inside = [], False
    for line in text.splitlines():
        formula = line.startswith("    ")
        if formula != inside:
            lines += ["```text"] if formula else ["```", ""]
            if formula:
                lines.insert(-1, "")
        inside = formula
        lines.append(line[4:] if formula else escaped(line))
    return "\n".join([*lines, "```"] if inside else lines)


def escaped(text: str) -> str:
    """Return plain text so that Markdown leaves it as it is."""
    return SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
