"""Marks around what prompts show as material: no text can end its own, or begin those of another."""

import re
from collections.abc import Iterable, Sequence
from itertools import count


def free_mark(name: str, texts: Iterable[str]) -> str:
    """Return a name for marks that no text has: `passage`, or `passage-2` where one says `<passage` or `</passage`.

    The texts stay as they are, so that what a model copies from them is found.

    Args:
        name: What stands between the marks.
        texts: All that is shown with them.
    """
    tag = re.compile(rf"<\s*/?\s*{name}(?:-(\d{{1,9}}))?", re.IGNORECASE)
    taken = {int(found[1] or 1) for text in texts for found in tag.finditer(text)}
    number = next(number for number in count(2) if number not in taken)
    return f"{name}-{number}" if taken else name


def marked(name: str, texts: Sequence[str], beside: str = "") -> str:
    """Return texts as prompts show them, each between marks of its own that none of them has.

    Args:
        name: What each of them is.
        texts: The texts.
        beside: What else is shown, and cannot have the marks either.
    """
    mark = free_mark(name, (*texts, beside))
    return "\n\n".join(f"<{mark}>\n{text}\n</{mark}>" for text in texts)
