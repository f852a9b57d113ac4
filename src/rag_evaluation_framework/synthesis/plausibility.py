"""What is certainly no question, or no answer to one. Doubtful ones pass: filters and the second call judge them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, Stage, rejected
from rag_evaluation_framework.text.terms import words

NO_QUESTION = "not a question"
OF_WHAT_WAS_SHOWN = "speaks of what was shown"
REPEATED = "quote is the question itself"
TOO_SHORT = "quote of a single character"
TOO_LONG = "quote of all that was shown"

_FEWEST_WORDS, _LONGEST = 2, 1000  # the longest public question has 173 characters
_ALL, _MUCH = 0.9, 1000  # of less than 1,000 characters all may well be the answer
_PLACES = "passage|excerpt|chunk|text|document"
_SAID = "mentioned|described|discussed|stated|given|provided|shown|said|told"
_SHOWN = re.compile(
    rf"""\b(?: this\ (?:passage|excerpt|chunk)
    | (?:does|do)\ (?:the|these|this)\ (?:passage|excerpt|chunk|text)s?\ (?:say|state|mention|describe|tell|list)
    | (?:{_SAID})\ in\ (?:the|these)\ (?:excerpt|chunk)s?(?=\ about|\s*(?:[,;:?.!]|$))
    | (?:the|this)\ (?:given|provided|above)\ context
    | (?:pa_)?chunk_[0-9a-f]{{12}}\b
    | (?:according\ to|based\ on|(?:{_SAID})\ in)
      \ (?:this|the|these)(?:\ (?:above|given|provided))?\ (?:{_PLACES})s?(?=\s*(?:[,;:?.!]|$)) )""",
    re.IGNORECASE | re.VERBOSE,
)


def asked_plausibly(candidates: Sequence[Candidate[U]], rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return the candidates whose wording may be that of a question: nothing more is asked about the others."""
    return _plausible(candidates, "parsed", _flaw_of_question, rejections)


def quoted_plausibly(candidates: Sequence[Candidate[U]], rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return the candidates whose quotes may be an answer, without quotes that are the question itself, as headings."""
    without = [_without_question(each, rejections) for each in candidates]
    return _plausible(without, "verified", _flaw_of_quotes, rejections)


def _plausible(
    candidates: Sequence[Candidate[U]],
    stage: Stage,
    flaw: Callable[[Candidate[U]], str | None],
    rejections: list[Rejection],
) -> list[Candidate[U]]:
    told = [(each, flaw(each)) for each in candidates]
    rejections += [rejected(each, stage, why, " | ".join(each.excerpts)) for each, why in told if why is not None]
    return [each for each, why in told if why is None]


def _flaw_of_question(candidate: Candidate[U]) -> str | None:
    if candidate.request.given:  # users also search by a single word
        return None
    text = candidate.question
    if len(text) > _LONGEST or len(words(text, None)) < _FEWEST_WORDS:
        return NO_QUESTION
    return OF_WHAT_WAS_SHOWN if _SHOWN.search(text) else None


def _without_question(candidate: Candidate[U], rejections: list[Rejection]) -> Candidate[U]:
    """Return a candidate without the quotes that repeat it, if there are others."""
    asked = wording_key(candidate.question)
    others = [number for number, text in enumerate(candidate.excerpts) if wording_key(text) != asked]
    if not others or len(others) == len(candidate.excerpts):
        return candidate
    left_out = [text for number, text in enumerate(candidate.excerpts) if number not in others]
    rejections += [rejected(candidate, "verified", REPEATED, text, questions=0) for text in left_out]
    answers, evidence = candidate.answers, candidate.evidence
    return replace(candidate, answers=tuple(answers[n] for n in others), evidence=tuple(evidence[n] for n in others))


def _flaw_of_quotes(candidate: Candidate[U]) -> str | None:
    quoted = "".join(candidate.excerpts)
    if sum(map(str.isalnum, quoted)) < 2:
        return TOO_SHORT
    if wording_key(candidate.question) in map(wording_key, candidate.excerpts):
        return REPEATED
    shown = sum(len(section.text.strip()) for section in candidate.request.sections)
    return TOO_LONG if len(quoted) >= max(_ALL * shown, _MUCH) else None
