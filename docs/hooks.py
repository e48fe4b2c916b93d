"""Fills in, when the pages are built, what would go stale if it were written: public names, and the scenes."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMPORTED = re.compile(r"from (gaussdyn\.[\w.]+) import (\w[\w, ]*)")
APART = ("gaussdyn.scenes", "gaussdyn.cli")  # they have pages of their own
SPECIAL = re.compile(r"([\\`*_{}\[\]#|])")


def on_page_markdown(markdown: str, **page: Any) -> str:
    """Replace the marks by what they stand for."""
    sys.path.insert(0, str(ROOT))
    marks = {"public names": public_names, "further names": further_names, "scenes": scenes}
    for mark, fill in ((f"<!-- {key} -->", fill) for key, fill in marks.items()):
        if mark in markdown:
            markdown = markdown.replace(mark, fill())
    return markdown


def public_names() -> str:
    """Return the directives of all public names, sorted by the module they live in."""
    import gaussdyn

    return directives({f"gaussdyn.{module}": list(names) for module, names in gaussdyn._HOME.items()})


def further_names() -> str:
    """Return the directives of what is no public name and yet taken from its module on a page or in an example."""
    import gaussdyn

    homes: dict[str, set[str]] = {
        "gaussdyn.errors": {"GaussdynError"},
        "gaussdyn.programs.solution.solution": {"Solution", "Status"},
    }
    for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*")):
        for module, names in IMPORTED.findall(path.read_text(encoding="utf-8")):
            homes.setdefault(module, set()).update(re.findall(r"\w+", names))
    public = set(gaussdyn.__all__)
    kept = {
        module: [path for name in sorted(names - public) if (path := path_of(module, name))]
        for module, names in homes.items()
        if not module.startswith(APART)
    }
    return directives({module: names for module, names in kept.items() if names})


def path_of(package: str, name: str) -> str:
    """Return where a name is described, below its package; empty for a module, whose names are listed where it is used.

    A function in a module of the same name goes by both names: sources are read, and there the module comes first.
    """
    place = ROOT.joinpath(*package.split("."), name)
    if place.is_dir() or isinstance(getattr(import_module(package), name), ModuleType):
        return ""
    return f"{name}.{name}" if place.with_suffix(".py").is_file() else name


def directives(homes: dict[str, list[str]]) -> str:
    """Return headings of modules, and the directives of their names."""
    lines = []
    for module in sorted(homes):
        lines.append(f"\n## {module}\n")
        lines += [f"\n::: {module}.{name}\n" for name in homes[module]]
    return "\n".join(lines)


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
    exact = [
        (escaped(x["name"]), f"{x['value']:.12g}", escaped(x["unit"]),
         ", ".join(f"{name} {tol:.2g}" for name, tol in sorted(x["tol"].items())))
        for x in e["exact"]
    ]  # fmt: skip
    return [
        f"## {e['name']}",
        f"**{escaped(e['title'])}.** Tests {escaped(', '.join(e['tests']))}. {steps}",
        prose(description),
        f"Source: {escaped(e['source'])}",
        *([f"Expected to stop: {escaped(e['expected_stop'])}"] if e["expected_stop"] else []),
        table(("parameter", "default", "unit", "range", "meaning"), params),
        table(("exact at the defaults", "value", "unit", "tolerance"), exact),
    ]


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
