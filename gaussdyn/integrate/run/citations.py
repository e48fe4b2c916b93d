"""What to cite for a run: the methods that it used, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._version import __version__

ENGINE = "gaussdyn"
# Keys of the entries that a stepper, a kind of system, or what a run did rests on.
STEPPERS = {
    "moreau_jean": ("moreau1999", "jean1999"),
    "event_driven": ("hairer1993",),
    "smooth": ("hairer1993",),
}
SYSTEMS = {"TreeSystem": ("featherstone2008",), "joints": ("featherstone2008",)}  # by kind, or by coordinates
ALWAYS = (ENGINE, "gauss1829")
FRICTION = ("desaxce1998", "alart1991")
PARADOX = ("genot1999",)  # where a state had no motion
ROBOT_FILE = ("todorov2012",)

ENTRIES = {
    ENGINE: ("software", {
        "author": "{The gaussdyn developers}", "version": __version__,
        "title": "gaussdyn: dynamics with contact, friction and constraints by {Gauss}'s principle",
    }),
    "gauss1829": ("article", {
        "author": "Gauss, Carl Friedrich", "title": "{\\\"U}ber ein neues allgemeines {G}rundgesetz der {M}echanik",
        "journal": "Journal f{\\\"u}r die reine und angewandte Mathematik", "volume": "4", "pages": "232--235",
        "year": "1829",
    }),
    "moreau1999": ("article", {
        "author": "Moreau, Jean Jacques", "title": "Numerical aspects of the sweeping process", "volume": "177",
        "journal": "Computer Methods in Applied Mechanics and Engineering", "number": "3--4", "pages": "329--349",
        "year": "1999",
    }),
    "jean1999": ("article", {
        "author": "Jean, Michel", "title": "The non-smooth contact dynamics method", "volume": "177",
        "journal": "Computer Methods in Applied Mechanics and Engineering", "number": "3--4", "pages": "235--257",
        "year": "1999",
    }),
    "desaxce1998": ("article", {
        "author": "De Saxc{\\'e}, G{\\'e}ry and Feng, Zhi-Qiang", "volume": "28", "number": "4--8",
        "title": "The bipotential method: A constructive approach to design the complete contact law with friction "
        "and improved numerical algorithms", "journal": "Mathematical and Computer Modelling", "pages": "225--245",
        "year": "1998",
    }),
    "alart1991": ("article", {
        "author": "Alart, Pierre and Curnier, Alain", "volume": "92", "number": "3", "pages": "353--375",
        "title": "A mixed formulation for frictional contact problems prone to {Newton} like solution methods",
        "journal": "Computer Methods in Applied Mechanics and Engineering", "year": "1991",
    }),
    "hairer1993": ("book", {
        "author": "Hairer, Ernst and N{\\o}rsett, Syvert P. and Wanner, Gerhard", "edition": "2", "year": "1993",
        "title": "Solving Ordinary Differential Equations {I}: Nonstiff Problems", "publisher": "Springer",
    }),
    "genot1999": ("article", {
        "author": "G{\\'e}not, Frank and Brogliato, Bernard", "title": "New results on {Painlev\\'e} paradoxes",
        "journal": "European Journal of Mechanics - A/Solids", "volume": "18", "number": "4", "pages": "653--677",
        "year": "1999",
    }),
    "featherstone2008": ("book", {
        "author": "Featherstone, Roy", "title": "Rigid Body Dynamics Algorithms", "publisher": "Springer",
        "year": "2008",
    }),
    "todorov2012": ("inproceedings", {
        "author": "Todorov, Emanuel and Erez, Tom and Tassa, Yuval", "pages": "5026--5033", "year": "2012",
        "title": "{MuJoCo}: A physics engine for model-based control",
        "booktitle": "IEEE/RSJ International Conference on Intelligent Robots and Systems",
    }),
}  # fmt: skip


def keys_of(settings: Mapping[str, Any], *, friction: bool, paradox: bool = False) -> tuple[str, ...]:
    """Return which entries a run rests on.

    Parameters
    ----------
    settings : mapping
        Of the run: its stepper and system.
    friction : bool
        Whether a contact of it had friction.
    paradox : bool
        Whether a state of it had no motion.
    """
    system = settings.get("system")
    spec: Mapping[str, Any] = system if isinstance(system, Mapping) else {}
    found = [*ALWAYS, *STEPPERS.get(str(settings.get("stepper", {}).get("name")), ())]
    found += [
        *SYSTEMS.get(str(spec.get("coordinates", spec.get("kind"))), ()),
        *(FRICTION if friction else ()),
        *(PARADOX if paradox else ()),
    ]
    found += ROBOT_FILE if re.search(r"<mujoco\b", str(spec.get("source", ""))) else ()
    return tuple(dict.fromkeys(found))


def bibtex(keys: tuple[str, ...]) -> str:
    """Return entries as BibTeX."""
    return "\n\n".join(_entry(key, *ENTRIES[key]) for key in keys) + "\n"


def _entry(key: str, kind: str, fields: Mapping[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}"
