"""What a message has to say: a line of code, an option or a command. With ``MENDS=asked`` every test asks for it."""

from __future__ import annotations

import re
from typing import Any

from gaussdyn import InputError
from gaussdyn.errors import SceneError

CODE = re.compile(
    r"\w\(.*\)|\w ?=(?!=) ?[\w\"'(\[{.-]|(?<![\w-])--\w|\w\[.*\]|\[\w|<\w+"  # calls, assignments, options, elements
    r"|gaussdyn \w|(?:^|[\s:(])(?:pip|ls|mv|sed|tail|mkdir|chmod|rm|df|export|python|dask|xacro) [\w.~/'-]"  # commands
    r"|(?<!\w)[\"'{]\w[^\"']*[\"'}]"  # words in quotes
)


def says_code(text: str) -> bool:
    """Return whether a text holds something to write."""
    return CODE.search(text) is not None


def ask_for_mends() -> None:
    """Let every `InputError` and `SceneError` fail that does not say what to write (with ``MENDS=asked`` only)."""
    refuse, refuse_file = InputError.__init__, SceneError.__init__

    def mended(self: InputError, *args: Any, **named: Any) -> None:
        refuse(self, *args, **named)
        assert says_code(self.mend), f"says nothing to write: {self}"

    def file_mended(self: SceneError, *args: Any, **named: Any) -> None:
        refuse_file(self, *args, **named)
        assert says_code(self.reason), f"says nothing to write: {self}"

    InputError.__init__, SceneError.__init__ = mended, file_mended  # type: ignore[method-assign]
