"""XML as elements that know their line, so that errors can name it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ...errors import InputError

DEEPEST = 200  # elements in one another
LARGEST = 1e50  # so that products of a few numbers are finite


@dataclass(slots=True, eq=False)
class Element:
    """An element of a file.

    Attributes
    ----------
    tag : str
    attributes : dict of str to str
    file : str
        Name of the file.
    line : int
    children : list of Element
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)

    def wrong(self, what: str, given: object, allowed: str, mend: str) -> InputError:
        """Return an error about something of this element, which names file and line."""
        return InputError(f"{self.file}, line {self.line}: {what}", given, allowed, mend)

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """Return the only child with a tag; None if there is none.

        Raises
        ------
        InputError
            Two of them.
        """
        found = list(self.all(tag))
        if len(found) > 1:
            what = f"<{tag}> in <{self.tag}>"
            raise found[1].wrong(what, f"a second one after line {found[0].line}", "one", f"Take one <{tag}> out.")
        return found[0] if found else None

    def needed(self, tag: str) -> Element:
        """Return the only child with a tag, which has to be there."""
        found = self.one(tag)
        if found is None:
            raise self.wrong(
                f"<{self.tag}{self.called}>", f"no <{tag}>", f"one <{tag}> in it", f"Write <{tag} .../> in it."
            )
        return found

    @property
    def called(self) -> str:
        """Its name, for messages."""
        return f' name="{self.attributes["name"]}"' if "name" in self.attributes else ""

    def text(self, name: str, otherwise: str | None = None) -> str:
        """Return an attribute; it has to be there if `otherwise` is None."""
        value = self.attributes.get(name, otherwise)
        if value is None or not (value.strip() or otherwise is not None):
            raise self.wrong(f"<{self.tag}>", f"no {name}", f'{name}="..."', f'Write <{self.tag} {name}="...">.')
        return value

    def numbers(self, name: str, size: int, otherwise: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return an attribute of several numbers.

        Raises
        ------
        InputError
            It is not there, is no list of so many numbers of a sensible size.
        """
        if name not in self.attributes and otherwise is not None:
            return otherwise
        text = self.text(name)
        try:
            values = tuple(float(word) for word in text.replace(",", " ").split())
        except ValueError:
            values = ()
        if len(values) != size or not all(abs(x) < LARGEST for x in values):
            many = "a number" if size == 1 else f"{size} numbers"
            many += f" of a size below {LARGEST:g}"
            raise self.wrong(f"{name} of <{self.tag}>", repr(text), many, f'Write {name}="{" ".join(["1"] * size)}".')
        return values

    def number(self, name: str, otherwise: float | None = None, *, low: float = -math.inf) -> float:
        """Return an attribute of one number, at least `low`."""
        (value,) = self.numbers(name, 1, None if otherwise is None else (otherwise,))
        if value < low:
            raise self.wrong(
                f"{name} of <{self.tag}>", value, f"a number >= {low:g}", f'Write {name}="{max(low, 1.0):g}".'
            )
        return value


def parsed(path: Path) -> Element:
    """Return the root element of a file.

    Raises
    ------
    InputError
        It cannot be read, or is not XML: file, line, and what is wrong.
    """
    builder = _Builder(path.name)
    try:
        builder.parser.Parse(path.read_bytes(), True)
    except OSError as error:
        raise InputError(
            "robot file", path.name, f"a file that can be read ({error.strerror})", f"ls -l {path}"
        ) from None
    except expat.ExpatError as error:
        said = expat.ErrorString(error.code)
        ends = "Was it written to its end? " if error.code in (3, 5, 7, 20) else ""
        mend = f"{ends}Look there: sed -n {error.lineno}p {path}"
        raise InputError(f"{path.name}, line {error.lineno}", said, "well-formed XML", mend) from None
    except (LookupError, ValueError) as error:  # an encoding that is not known
        raise InputError(
            path.name,
            error,
            "XML in an encoding that is known, such as UTF-8",
            f'Write <?xml version="1.0" encoding="UTF-8"?> first, or: iconv -t UTF-8 {path.name}',
        ) from None
    return builder.root


class _Builder:
    """Makes elements of what the parser meets."""

    def __init__(self, file: str) -> None:
        self.file, self.stack = file, list[Element]()
        self.root = Element("", {}, file, 0)
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = lambda _: self.stack.pop()
        self.parser.EntityDeclHandler = self.entity

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        made = Element(tag, attributes, self.file, self.parser.CurrentLineNumber)
        if len(self.stack) >= DEEPEST:
            raise made.wrong(
                f"<{tag}>",
                f"within {DEEPEST} others",
                "fewer elements in one another",
                f"Close one that is open: write <{tag}/>.",
            )
        if self.stack:
            self.stack[-1].children.append(made)
        else:
            self.root = made
        self.stack.append(made)

    def entity(self, name: str, *_: object) -> None:
        at = Element("", {}, self.file, self.parser.CurrentLineNumber)
        raise at.wrong(
            "<!ENTITY>", name, "a file without entities", 'Write what it stands for, value="1", in the place of &name;.'
        )
