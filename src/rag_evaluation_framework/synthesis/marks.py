"""Marks around what prompts show as material: no text can end its own, or begin those of another."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from xml.sax.saxutils import quoteattr


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


def marked(name: str, texts: Sequence[str], beside: str = "", told: Sequence[Mapping[str, str]] = ()) -> str:
    """Return texts as prompts show them, each between marks of its own that none of them has.

    Args:
        name: What each of them is.
        texts: The texts.
        beside: What else is shown, and cannot have the marks either.
        told: What the opening mark of each tells, by name; what is blank is left out.
    """
    mark = free_mark(name, (*texts, beside))
    openings = [_attributes(each) for each in told] or [""] * len(texts)
    shown = [f"<{mark}{opening}>\n{text}\n</{mark}>" for opening, text in zip(openings, texts, strict=True)]
    return "\n\n".join(shown)


def _attributes(told: Mapping[str, str]) -> str:
    return "".join(f" {key}={quoteattr(' '.join(value.split()))}" for key, value in told.items() if value.strip())
