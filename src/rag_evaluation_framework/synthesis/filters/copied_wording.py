"""Questions that repeat the wording of their excerpts: whoever searches for words has them too easy."""

from collections.abc import Sequence

from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.contracts.component import check_number
from rag_evaluation_framework.synthesis.filters.thresholds import Rejection, check_same_number, longest_shared_run
from rag_evaluation_framework.text.terms import words

COPIED_SHARE = 0.60
"""The share of a question's words, in one run, from which on it counts as copied."""

_RUN, _LETTERS = 5, 20  # words, and letters and digits in them: fewer are a name


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
    if figure < share or len(run) < _RUN or sum(map(len, run)) < _LETTERS:
        return None
    told = f"{len(run)} of its words in a row, {figure:.0%}, stand in its excerpt: “{one_line(' '.join(run))}”"
    return Rejection("copied wording", figure, share, told)
