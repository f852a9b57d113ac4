"""Filters of proposed questions: relevance, near-duplicates, copied wording; each says why, with the figure."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from math import ceil, floor, nan
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.contracts.component import check_number
from rag_evaluation_framework.contracts.roles import Embedder, Role, checked_parts, joined
from rag_evaluation_framework.data.values import plain_number
from rag_evaluation_framework.embedders import CachedEmbedder, OpenAIEmbedder
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.text.terms import words

# Why a filter rejects a question.

Reason: TypeAlias = Literal["irrelevant", "near duplicate", "copied wording"]


@dataclass(frozen=True)
class Rejection:
    """Why a filter rejects a question.

    Attributes:
        reason: The kind of reason.
        figure: The figure that decided, to six decimals: a cosine, or a share of words.
        threshold: The figure that it was compared with.
        told: The reason as a sentence for people.
        like: The number of the question that it repeats, 0-based; None for other reasons.
    """

    reason: Reason
    figure: float
    threshold: float
    told: str
    like: int | None = None


# Whether texts share wording: a run of five words, or all words of a shorter text.

_RUN = 5  # words in a row; fewer are common property


@dataclass(frozen=True)
class Wording:
    """The words of some texts, ready to be compared.

    Attributes:
        texts: The words of each text.
        runs: All runs of five words.
    """

    texts: tuple[tuple[str, ...], ...]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Wording":
        """Return the wording of texts, such as the excerpts of a question."""
        found = tuple(tuple(worded) for text in texts if (worded := words(text, None)))
        return cls(found, frozenset(run for text in found for run in _runs(text, _RUN)))

    def shares(self, other: "Wording") -> bool:
        """Return whether a text here and one there share five words in a row, or one holds all of a shorter one."""
        return not self.runs.isdisjoint(other.runs) or _holds(self, other) or _holds(other, self)


def longest_shared_run(asked: Sequence[str], told: Sequence[str]) -> Sequence[str]:
    """Return the longest run of words that stands in both, the first of several; empty if there is none."""
    best: Sequence[str] = ()
    before = [0] * (len(told) + 1)
    for end, word in enumerate(asked, 1):
        now = [0] * (len(told) + 1)
        for at, other in enumerate(told, 1):
            if word == other:
                now[at] = before[at - 1] + 1
                if now[at] > len(best):
                    best = asked[end - now[at] : end]
        before = now
    return best


def _holds(one: Wording, other: Wording) -> bool:
    """Return whether a text of one holds all words of a text of the other that is shorter than a run."""
    short = [text for text in other.texts if len(text) < _RUN]
    return any(text in _runs(long, len(text)) for text in short for long in one.texts)


def _runs(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[start : start + size]) for start in range(len(text) - size + 1)}


# Cosines of texts, to six decimals: the same pair is above or below a threshold on every machine.

Directions: TypeAlias = NDArray[np.float64]

_DECIMALS = 6


def directions(embedder: Embedder, texts: Sequence[str], role: Role = "text") -> Directions:
    """Return the vectors of texts at length 1, shape (len(texts), dimension); zeros stay zeros.

    Raises:
        InputError: The embedder returns other than one vector of finite numbers for each text.
    """
    if not texts:
        return np.zeros((0, 0))
    vectors = joined(checked_parts(embedder, texts, role), len(texts)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Directions = vectors / np.where(lengths == 0, 1, lengths)
    return unit


def cosines(some: Directions, others: Directions) -> Directions:
    """Return all cosines, shape (len(some), len(others)); 0 with a text whose vector is zero: nothing is known of it.

    Args:
        some: Directions, one per row.
        others: Directions of the same length, one per row.
    """
    if not (len(some) and len(others)):
        return np.zeros((len(some), len(others)))
    products: Directions = some @ others.T
    return products.clip(-1, 1).round(_DECIMALS)


def check_same_number(questions: Sequence[str], excerpts: Sequence[Sequence[str]]) -> None:
    """Raise InputError if there are not as many lists of excerpts as questions."""
    if len(questions) != len(excerpts):
        raise InputError(
            f"{len(questions)} questions with {len(excerpts)} lists of excerpts; expected one list for each question"
        )


# Thresholds on cosines, and where they come from: what a cosine means differs from embedder to embedder.

_FAMILY = "text-embedding-3-"  # the models of which the published figures are


class PublishedFigure(float):
    """A published figure as a default: where it is not that of an embedder, it stands for one that is calibrated.

    It is equal to the number, and no number that a caller gives is one: that counts as it is.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Threshold:
    """A threshold on the cosine of two texts, and where it comes from.

    Attributes:
        figure: The threshold.
        origin: `given`, by the caller; `design`, the published figure as it stands; `calibrated`, on these questions.
        share: The share of pairs that the calibration lets come through wrongly; None where nothing was calibrated.
        pairs: How many pairs it was calibrated on; 0 where nothing was.
    """

    figure: float
    origin: Literal["given", "design", "calibrated"]
    share: float | None = None
    pairs: int = 0

    @classmethod
    def given(cls, figure: float, name: str = "threshold") -> "Threshold":
        """Return a threshold as its caller gave it.

        Args:
            figure: The threshold.
            name: What the caller knows it as, for messages.

        Raises:
            ConfigError: It is not a number from -1 to 1.
        """
        try:
            plain = plain_number(figure)
        except (TypeError, ValueError, OverflowError):
            plain = nan
        if not -1 <= plain <= 1:
            raise ConfigError(f"{name}={shown(figure)}; expected the cosine of two texts, a number from -1 to 1")
        return cls(plain, "given")


def has_figures_of_design(embedder: Embedder) -> bool:
    """Return whether the published figures 0.40 and 0.70 are those of this embedder.

    They are of OpenAI's text-embedding-3: Chroma's "Evaluating Chunking Strategies for Retrieval" (2024), from which
    they come, filtered by the cosines of text-embedding-3-large.
    """
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return isinstance(inner, OpenAIEmbedder) and inner.model.startswith(_FAMILY)


COPIED_SHARE = 0.60
"""The share of a question's words, in one run, from which on it counts as copied."""

_SHORTEST_COPY, _LETTERS = 5, 20  # words, and letters and digits in them: fewer are a name


def reject_copied_wording(
    questions: Sequence[str], excerpts: Sequence[Sequence[str]], share: float = COPIED_SHARE
) -> tuple[Rejection | None, ...]:
    """Return for each question None, or that it repeats the wording of an excerpt.

    Formula: words in the longest run that also stands in an excerpt / words of the question; all words count, stop
    words too, in lower case. A question is rejected if that is at least `share`, and the run has at least 5 words
    and 20 letters and digits: shorter runs are names. A question without words, or without excerpts, passes: there
    is nothing to compare.

    At the default of 0.60, 3 of the 276 public questions that a model wrote would be rejected, and 2 of 1,380 that
    people wrote; at 0.50 it would be 13 and 4, most of which repeat a name (`benchmarks/public_questions.py`).

    Args:
        questions: The questions.
        excerpts: The texts of the answers of each question.
        share: The least share that counts as copied, above 0; 1 is the whole question.

    Raises:
        ConfigError: `share` is not a number from 0 to 1.
        InputError: Questions and lists of excerpts differ in number.
    """
    check_same_number(questions, excerpts)
    check_number("reject_copied_wording", "share", share, most=1)
    return tuple(_rejection(question, quotes, share) for question, quotes in zip(questions, excerpts, strict=True))


def copied_run(question: str, excerpts: Sequence[str]) -> tuple[Sequence[str], float]:
    """Return the longest run of words that a question shares with an excerpt, and its share of the question's words."""
    asked = words(question, None)
    runs = (longest_shared_run(asked, words(text, None)) for text in excerpts)
    run = max(runs, key=len, default=())
    return run, round(len(run) / len(asked), 6) if asked else 0.0


def _rejection(question: str, quotes: Sequence[str], share: float) -> Rejection | None:
    run, figure = copied_run(question, quotes)
    if figure < share or len(run) < _SHORTEST_COPY or sum(map(len, run)) < _LETTERS:
        return None
    told = f"{len(run)} of its words in a row, {figure:.0%}, stand in its excerpt: “{one_line(' '.join(run))}”"
    return Rejection("copied wording", figure, share, told)


RELEVANCE_THRESHOLD = PublishedFigure(0.40)
"""The published figure, of OpenAI's text-embedding-3: the cosine that a question has with each excerpt at the least."""

_UNRELATED_SHARE = 0.10  # of unrelated pairs that pass
_FEWEST_PAIRS = 100  # unrelated pairs: of fewer, a tenth is chance
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
    if len(unrelated) < _FEWEST_PAIRS or max(unrelated) <= 0:
        return design
    first_too_many = sorted(unrelated, reverse=True)[floor(_UNRELATED_SHARE * len(unrelated))]
    return Threshold((floor(first_too_many * 10_000) + 1) / 10_000, "calibrated", _UNRELATED_SHARE, len(unrelated))


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


DEDUP_THRESHOLD = PublishedFigure(0.70)
"""The published figure, of OpenAI's text-embedding-3: questions with a higher cosine count as the same question."""

_REPEATED_SHARE = 0.05  # of questions about other text that may be taken for repeated ones


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
    first_too_many = sorted(nearest, reverse=True)[floor(_REPEATED_SHARE * len(nearest))]
    figure = max(float(DEDUP_THRESHOLD), min(ceil(first_too_many * 10_000) / 10_000, 1.0))
    return Threshold(figure, "calibrated", _REPEATED_SHARE, len(nearest))


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
