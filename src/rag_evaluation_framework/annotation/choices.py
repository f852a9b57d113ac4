"""What a person types to choose passages: `1 3` are two answers, `1/3` is one that either of them gives."""

import re
from collections import Counter
from typing import TypeAlias

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.errors import InputError

Choice: TypeAlias = tuple[tuple[int, ...], ...]
"""The numbers of passages by answer: all answers are wanted, and of each any passage is enough."""

_SLASH = re.compile(r"\s*/\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")  # other digits than these are on no key that says "1"


def parse_choice(typed: str, known: int) -> Choice:
    """Return the numbers of passages that were typed; none of them for `0` or `n`, which say that there is no answer.

    Args:
        typed: Numbers with blanks or commas between answers, and `/` between the passages that give the same answer.
        known: How many passages were shown, numbered from 1.

    Raises:
        InputError: It is nothing of the kind, or a number is that of no passage, or is there twice.
    """
    if typed.strip().lower() in ("0", "n"):
        return ()
    answers = tuple(
        tuple(_number(part, answer, known) for part in answer.split("/"))
        for answer in _SLASH.sub("/", typed).replace(",", " ").split()
    )
    twice = [
        number for number, count in Counter(number for answer in answers for number in answer).items() if count > 1
    ]
    if twice:
        raise InputError(f"passage {twice[0]} is named twice; expected each number once, such as 1 3 or 1/3")
    if not answers:
        raise InputError("expected the numbers of passages, such as 1, or 0 if nothing answers the question")
    return answers


def _number(part: str, answer: str, known: int) -> int:
    if not part:
        raise InputError(
            f"a number is missing beside a slash in {shown(answer, 40)}; expected one on either side, such as 1/3"
        )
    if not _NUMBER.fullmatch(part):
        raise InputError(f"{shown(part, 40)} is not understood; expected the numbers of passages, such as 1 or 1 3")
    number = int(part)
    if not number:
        raise InputError("0 says that nothing answers the question; expected it alone, or numbers of passages")
    if number > known:
        last = "no passage was shown" if not known else f"the last passage that was shown is {known}"
        raise InputError(f"there is no passage {number}: {last}")
    return number
