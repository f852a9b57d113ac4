"""Questions that ask again what an earlier one asked, by the cosine of their vectors."""

from collections.abc import Callable, Hashable, Sequence
from math import ceil, floor

import numpy as np

from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.synthesis.filters.thresholds import (
    Directions,
    PublishedFigure,
    Rejection,
    Threshold,
    Wording,
    check_same_number,
    cosines,
    directions,
    has_figures_of_design,
)

DEDUP_THRESHOLD = PublishedFigure(0.70)
"""The published figure, of OpenAI's text-embedding-3: questions with a higher cosine count as the same question."""

_SHARE = 0.05  # of questions about other text that may be taken for repeated ones


def dedup_threshold(
    questions: Sequence[str],
    excerpts: Sequence[Sequence[str]],
    embedder: Embedder,
    requests: Sequence[Hashable] = (),
) -> Threshold:
    """Return above which cosine questions are near-duplicates: the published 0.70 or, for others, a calibrated figure.

    0.70 is of OpenAI's text-embedding-3 and stays as it is for these models. For any other embedder it is the least
    figure, but no less than 0.70, above which at most one in twenty of these questions has another one *whose excerpts
    share no wording with its own*, or that was written in one answer with it: these ask for something else, and are
    lost if they are taken for the same.

    Cosines of `LsaEmbedder` tell the topic of a question rather than what it asks. Of the 276 public questions, which
    their authors had freed of near-duplicates by embeddings of OpenAI, 0.70 would reject 137 and the calibrated 0.93
    rejects 7. The price: of 244 pairs of questions that people called alike, LSA has 46 % above 0.70 and 3 % above 0.93
    (`benchmarks/public_questions.py`). With LSA this finds repetition; for paraphrases take an embedder with a trained
    model. That questions about other text ask for something else is the assumption, and that a model which is asked for
    several questions at once does not ask the same twice. On a few short documents LSA does not tell questions apart
    at all: the figure is then near 1, at which nothing is rejected.

    Questions without excerpts are left out: nobody knows which text they are about. Without questions about other text
    nothing can be calibrated: 0.70, of origin `design`, says so.

    Args:
        questions: The questions.
        excerpts: The texts of the answers of each question.
        embedder: What makes vectors, fitted.
        requests: What each question was written for: those with equal ones were written in one answer. None if that is
            not known.

    Raises:
        InputError: Questions, lists of excerpts and requests differ in number, or the embedder returns no vectors.
    """
    check_same_number(questions, excerpts)
    if len(requests) not in (0, len(questions)):
        raise InputError(f"{len(questions)} questions with {len(requests)} requests; expected one for each")
    design = Threshold(DEDUP_THRESHOLD, "design")
    if has_figures_of_design(embedder):
        return design
    answered = [number for number, quotes in enumerate(excerpts) if quotes]
    asked = directions(embedder, [questions[number] for number in answered], "query")
    wordings = [Wording.of(excerpts[number]) for number in answered]
    written = [requests[number] if len(requests) else number for number in answered]

    def differ(one: int, other: int) -> bool:
        return written[one] == written[other] or not wordings[one].shares(wordings[other])

    nearest = [near for number in range(len(answered)) if (near := _nearest_other(number, asked, differ)) is not None]
    if not nearest:
        return design
    first_too_many = sorted(nearest, reverse=True)[floor(_SHARE * len(nearest))]
    figure = max(float(DEDUP_THRESHOLD), min(ceil(first_too_many * 10_000) / 10_000, 1.0))
    return Threshold(figure, "calibrated", _SHARE, len(nearest))


def reject_near_duplicates(
    questions: Sequence[str], embedder: Embedder, threshold: Threshold
) -> tuple[Rejection | None, ...]:
    """Return for each question None, or which earlier question it repeats.

    In their order: a question is rejected if its cosine with an earlier one that is kept is above the threshold; one
    that equals it is kept, as in Chroma's own filter. Questions with the same wording but for case and punctuation are
    the same whatever their vectors. What is rejected rejects nothing, so the result depends on the order and on nothing
    else. Give only questions that other filters keep.

    Args:
        questions: The questions, those to be preferred first.
        embedder: What makes vectors, fitted.
        threshold: The highest cosine of questions that differ.

    Raises:
        InputError: The embedder returns no vectors.
    """
    asked = directions(embedder, questions, "query")
    held = np.empty_like(asked)
    kept: list[int] = []
    worded: dict[str, int] = {}
    found: list[Rejection | None] = []
    for number, question in enumerate(questions):
        alike = cosines(asked[[number]], held[: len(kept)])[0]
        same = worded.get(wording_key(question))
        like, figure, why = same, 1.0, "the same wording as"
        if same is None and kept:
            like, figure = kept[int(np.argmax(alike))], float(alike.max())
            why = f"a cosine of {figure:.2f} with"
        if like is not None and (same is not None or figure > threshold.figure):
            told = f"it has {why} question {like + 1}, {one_line(shown(questions[like]))}"
            found.append(Rejection("near duplicate", figure, threshold.figure, told, like))
            continue
        held[len(kept)] = asked[number]
        kept.append(number)
        worded[wording_key(question)] = number
        found.append(None)
    return tuple(found)


def _nearest_other(number: int, asked: Directions, differ: Callable[[int, int], bool]) -> float | None:
    """Return the highest cosine of a question with one that differs; None if there is none."""
    row = cosines(asked[[number]], asked)[0]
    ranked: list[int] = np.argsort(-row, kind="stable").tolist()
    other = next((at for at in ranked if at != number and differ(number, at)), None)
    return None if other is None else float(row[other])
