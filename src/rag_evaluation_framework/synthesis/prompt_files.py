"""Prompts: files that people can read, with a version by which each wording is known again."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag_evaluation_framework.data.ids import content_digest

_FOLDER = Path(__file__).parent / "prompts"
_VERSION = re.compile(r"version: (\d+)\n")
_PART = re.compile(r"^# (\w+)\n", re.MULTILINE)
_PLACE = re.compile(r"\{([a-z_]+)\}")
_DIGITS = 12


@dataclass(frozen=True)
class Prompt:
    """A prompt, as its file says it.

    Attributes:
        version: The name of the file, its version, and 12 digits of the hash of what it says: `simple@1-0123456789ab`.
        parts: What stands below each of its headings, by their names in lower case.
    """

    version: str
    parts: Mapping[str, str]

    def filled(self, part: str, **values: object) -> str:
        """Return a part in which each `{name}` is replaced by a value; braces in the values stay as they are.

        Raises:
            KeyError: There is no such part, or no value for a name.
        """
        return _PLACE.sub(lambda place: str(values[place[1]]), self.parts[part])

    def messages(self, **values: object) -> list[dict[str, str]]:
        """Return the messages of its system and user parts, filled in."""
        return [{"role": role, "content": self.filled(role, **values)} for role in ("system", "user")]


@cache
def load_prompt(name: str) -> Prompt:
    """Return a prompt of this package.

    Args:
        name: The name of its file, without the ending.
    """
    return read_prompt(name, (_FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def read_prompt(name: str, text: str) -> Prompt:
    """Return the prompt of a text: a line `version: 1`, then headings `# Name` with what they are about below them.

    Raises:
        ValueError: It has no such line, or no heading.
    """
    begin = _VERSION.match(text)
    _, *found = _PART.split(text[begin.end() :]) if begin else [""]
    if begin is None or not found:
        raise ValueError(f"prompt {name!r}: expected a line 'version: 1', and headings such as '# System'")
    parts = {heading.lower(): body.strip() for heading, body in zip(found[::2], found[1::2], strict=True)}
    return Prompt(f"{name}@{begin[1]}-{content_digest(text)[:_DIGITS]}", parts)
