"""Relevance of questions to their excerpts: the cosine of a question and the excerpt that is least like it."""

import re
from collections.abc import Sequence
from itertools import compress
from math import floor
from typing import TypeVar

import numpy as np

from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.synthesis.filters.thresholds import (
    PublishedFigure,
    Rejection,
    Threshold,
    Wording,
    check_same_number,
    cosines,
    directions,
    has_figures_of_design,
)

RELEVANCE_THRESHOLD = PublishedFigure(0.40)
"""The published figure, of OpenAI's text-embedding-3: the cosine that a question has with each excerpt at the least."""

_SHARE = 0.10  # of unrelated pairs that pass
_FEWEST = 100  # unrelated pairs: of fewer, a tenth is chance
_MOST = 300  # questions, and passages, that are compared: evenly spaced over all
_PASSAGE = re.compile(r"(?:\S+\s*){1,100}")  # as LsaEmbedder learns from

_T = TypeVar("_T")


def relevance_threshold(
    questions: Sequence[str],
    excerpts: Sequence[Sequence[str]],
    documents: Sequence[str],
    embedder: Embedder,
) -> Threshold:
    """Return the least relevance to expect with an embedder: the published 0.40 or, for others, a calibrated figure.

    0.40 is of OpenAI's text-embedding-3 and stays as it is for these models. For any other embedder it is the least
    figure that at most one in ten unrelated pairs reaches, so it means: *of ten passages that have nothing to do with a
    question, at least nine would be rejected*. Unrelated pairs are each question with the passages of 100 words of
    these documents that share no wording with its excerpts (of at most 300 questions and 300 passages, evenly spaced).

    What share of unrelated pairs reaches 0.40 with text-embedding-3 cannot be measured here; one in ten is an
    assumption in its place. With `LsaEmbedder` it gives 0.20 to 0.27 on three public corpora, which 93 to 97 % of their
    questions reach with their worst excerpt, and 0.20 on all three together, which 99 % reach; 0.40 would reject 13 to
    22 %. Where answers are phrases, as in COVID-QA (half of them below 72 characters), it rejects 35 % of what people
    labelled: LSA compares words, and a phrase shares none with its question (`benchmarks/public_questions.py`). A
    strict figure costs more than questions: those in other words than their answers go first, and what is left is
    easier than it should be.

    With fewer than 100 unrelated pairs, or if none has a cosine above 0, nothing can be calibrated: 0.40, of origin
    `design`, says so.

    Args:
        questions: The questions.
        excerpts: The texts of the answers of each question.
        documents: The texts of the documents.
        embedder: What makes vectors, fitted.

    Raises:
        InputError: Questions and lists of excerpts differ in number, or the embedder returns no vectors.
    """
    check_same_number(questions, excerpts)
    design = Threshold(RELEVANCE_THRESHOLD, "design")
    if has_figures_of_design(embedder):
        return design
    some = _spaced(list(zip(questions, excerpts, strict=True)))
    passages = calibration_passages(documents)
    asked = directions(embedder, [question for question, _ in some], "query")
    found = cosines(asked, directions(embedder, passages))
    theirs, wordings = [Wording.of([passage]) for passage in passages], [Wording.of(quotes) for _, quotes in some]
    is_other = [[not own.shares(passage) for passage in theirs] for own in wordings]
    unrelated = [
        cosine for row, others in zip(found.tolist(), is_other, strict=True) for cosine in compress(row, others)
    ]
    if len(unrelated) < _FEWEST or max(unrelated) <= 0:
        return design
    first_too_many = sorted(unrelated, reverse=True)[floor(_SHARE * len(unrelated))]
    return Threshold((floor(first_too_many * 10_000) + 1) / 10_000, "calibrated", _SHARE, len(unrelated))


def calibration_passages(documents: Sequence[str]) -> list[str]:
    """Return the passages of documents with which questions are compared: of 100 words, at most 300, evenly spaced."""
    return _spaced([passage for document in documents for passage in _PASSAGE.findall(document)])


def reject_irrelevant(
    questions: Sequence[str], excerpts: Sequence[Sequence[str]], embedder: Embedder, threshold: Threshold
) -> tuple[Rejection | None, ...]:
    """Return for each question None, or that its worst excerpt is less like it than the threshold.

    The worst excerpt decides, not the mean: one excerpt that belongs to nothing spoils an answer. A cosine that equals
    the threshold passes. A question without excerpts passes, as there is nothing to compare; with a text of which the
    embedder knows no word the cosine is 0.

    Args:
        questions: The questions.
        excerpts: The texts of the answers of each question.
        embedder: What makes vectors, fitted.
        threshold: The least cosine.

    Raises:
        InputError: Questions and lists of excerpts differ in number, or the embedder returns no vectors.
    """
    check_same_number(questions, excerpts)
    asked = directions(embedder, questions, "query")
    texts = list(dict.fromkeys(text for quotes in excerpts for text in quotes))
    row, told = {text: number for number, text in enumerate(texts)}, directions(embedder, texts)

    def rejection(number: int, quotes: Sequence[str]) -> Rejection | None:
        if not quotes:
            return None
        with_quotes = cosines(asked[[number]], told[[row[text] for text in quotes]])[0]
        worst = int(np.argmin(with_quotes))
        figure = float(with_quotes[worst])
        if figure >= threshold.figure:
            return None
        which = "its excerpt" if len(quotes) == 1 else f"excerpt {worst + 1} of {len(quotes)}"
        why = f"its cosine with {which} is {figure:.2f}; expected at least {threshold.figure:.2f}"
        return Rejection("irrelevant", figure, threshold.figure, why)

    return tuple(rejection(number, quotes) for number, quotes in enumerate(excerpts))


def _spaced(items: Sequence[_T]) -> list[_T]:
    """Return at most 300 of some items, evenly spaced, from the first."""
    step = -(-len(items) // _MOST) or 1
    return list(items[::step])
