"""How alike questions are by their words, and which ask again what an earlier one asked."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.text.terms import question_words, stemmer

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
    stem = stemmer("english")
    first, second = _terms(one, stem), _terms(other, stem)
    return len(first & second) / len(first | second) if first | second else 0.0


def near_duplicates(questions: Sequence[str]) -> list[int]:
    """Return the numbers of the questions that are near-duplicates of an earlier one, whatever became of that."""
    stem = stemmer("english")
    asked, worded = defaultdict[str, list[int]](list), set[str]()
    terms: list[frozenset[str]] = []
    found: list[int] = []
    for number, question in enumerate(questions):
        own = _terms(question, stem)
        shared = Counter(earlier for term in own for earlier in asked[term])
        alike = (count / len(own | terms[earlier]) >= NEAR_DUPLICATE for earlier, count in shared.items())
        if wording_key(question) in worded or any(alike):
            found.append(number)
        for term in own:
            asked[term].append(number)
        worded.add(wording_key(question))
        terms.append(own)
    return found


def _terms(question: str, stem: Callable[[str], str]) -> frozenset[str]:
    return frozenset(stem(word) for word in question_words(question, "english"))
