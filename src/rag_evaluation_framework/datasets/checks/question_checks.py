"""Checks of questions: the same one asked twice or asked again in other words, and one that copies its answer."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any
from unicodedata import category

from ...data.ground_truth import GroundTruth
from ...text.terms import question_words, stemmer, words
from .findings import Finding, FindingKind, Label, place_of, units_of

_RUN, _RUN_LETTERS = 8, 20  # words, and letters and digits in them: words may be single characters
_SHARE, _FEWEST = 0.9, 4  # of the content words of an answer; of fewer it is chance
_QUOTING = "".join(sign for sign in map(chr, range(0x10000)) if category(sign) in ("Pi", "Pf")) + "\"'"
_BEFORE_WORDS = f"{_QUOTING}([{{¿¡"
_BEHIND_WORDS = f"{_QUOTING})]}}.,;:!?…。、，？！؟"  # so C# is not C, -5 not 5, .NET not NET, __init__ not init


def wording_key(text: str) -> str:
    """Return what questions with the same wording share: its words in lower case, without punctuation around them.

    Symbols that may be part of a word count, as in `C#`, `C++` and `-5`. Of a question without words it is the text.
    """
    words = text.casefold().replace("’", "'").split()
    bare = (word.rstrip(_BEHIND_WORDS).lstrip(_BEFORE_WORDS) or word.rstrip(".,;:!?") for word in words)
    return " ".join(filter(None, bare)) or text


def truth_key(entry: GroundTruth[Any], labels: Sequence[Label]) -> object:
    """Return what questions with the same truth share: the same labels with the same gains, in any order."""
    graded = zip(labels, units_of(entry), strict=True)
    return frozenset((place_of(label.unit), entry.gain(unit)) for label, unit in graded)


def asked_twice(questions: Sequence[tuple[GroundTruth[Any], Sequence[Label]]]) -> Iterator[Finding]:
    """Yield which questions are worded as an earlier one, and whether that has the same truth."""
    known: dict[str, dict[object, GroundTruth[Any]]] = {}
    for entry, labels in questions:
        alike, truth = known.setdefault(wording_key(entry.query.text), {}), truth_key(entry, labels)
        first = alike.get(truth)
        if first is not None:
            yield Finding(FindingKind.ASKED_TWICE, {"first": first.query.id}, entry.query)
            continue
        if alike:
            other = next(iter(alike.values())).query
            yield Finding(FindingKind.OTHER_TRUTH, {"first": other.id, "wording": other.text}, entry.query)
        alike[truth] = entry


def copied_answer(entry: GroundTruth[Any], labels: Sequence[Label]) -> dict[str, Any]:
    """Return how a question copies its answer, if it does: lexical retrieval has it too easy then.

    It does if 8 words in a row of a label stand in it, with at least 20 letters and digits, or at least 90 % of the
    different content words of its labels, of which there are at least 4. Content words are those that BM25 compares:
    without English stop words, by their stems.
    """
    asked = words(entry.query.text, None)
    texts = [label.text for label in labels if label.text is not None]
    for text in texts:
        if run := _common_run(asked, words(text, None)):
            return {"count": len(run), "run": " ".join(run)}
    answer = frozenset[str]().union(*map(content_words, texts))
    shared = len(answer & content_words(entry.query.text))
    is_copied = len(answer) >= _FEWEST and shared >= _SHARE * len(answer)
    return {"shared": shared, "of": len(answer)} if is_copied else {}


def _common_run(asked: list[str], told: list[str]) -> list[str]:
    """Return the first run of words that is long enough, and stands in both; empty if there is none."""
    starts = {tuple(asked[start : start + _RUN]): start for start in range(len(asked) - _RUN + 1)}
    at = 0
    while starts and at + _RUN <= len(told):
        start = starts.get(tuple(told[at : at + _RUN]))
        pairs = () if start is None else zip(asked[start:], told[at:], strict=False)
        run = [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
        if sum(map(len, run)) >= _RUN_LETTERS:
            return run
        at += max(len(run) - _RUN, 0) + 1
    return []


# How alike questions are by their words, and which ask again what an earlier one asked.

NEAR_DUPLICATE = 0.5
"""The likeness from which on two questions count as near-duplicates."""


def word_likeness(one: str, other: str) -> float:
    """Return how alike two questions are by their words: shared content words / content words of either.

    That is the Jaccard index of their different content words, those that BM25 compares: without English stop words, by
    their stems. It is 1.0 for the same wording, and knows nothing of meaning: of 244 pairs of questions that people
    called alike, 27 % reach 0.5, and of 244 pairs that they called different 0.4 % (`benchmarks/public_questions.py`).
    """
    if wording_key(one) == wording_key(other):
        return 1.0
    first, second = content_words(one), content_words(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def near_duplicates(questions: Sequence[str]) -> list[int]:
    """Return the numbers of the questions that are near-duplicates of an earlier one, whatever became of that."""
    asked, worded = defaultdict[str, list[int]](list), set[str]()
    terms: list[frozenset[str]] = []
    found: list[int] = []
    for number, question in enumerate(questions):
        own = content_words(question)
        shared = Counter(earlier for term in own for earlier in asked[term])
        alike = (count / len(own | terms[earlier]) >= NEAR_DUPLICATE for earlier, count in shared.items())
        if wording_key(question) in worded or any(alike):
            found.append(number)
        for term in own:
            asked[term].append(number)
        worded.add(wording_key(question))
        terms.append(own)
    return found


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text, which BM25 compares: without English stop words, by their stems."""
    stem = stemmer("english")
    return frozenset(stem(word) for word in question_words(text, "english"))
