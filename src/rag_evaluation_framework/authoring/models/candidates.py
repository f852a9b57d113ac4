"""Questions on their way into a dataset, the evidence of each, and how many get there."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, Generic, Literal, TypeAlias

from ...base.outside import grouped
from ...contracts.roles import QuestionRequest
from ...data import Answer, CharacterSpan, ChunkId, DocumentId
from ...data.levels import U
from ...errors import ProviderError
from ...text.text_locator import is_long

# Evidence: what answers a question, and in which documents it stands.


@dataclass(frozen=True)
class Evidence:
    """Text that was verified to answer a question, or a part of it.

    Attributes:
        text: The text.
        doc_id: The document in which it stands.
        documents: All documents in which it answers, if it stands in several; `doc_id` is one of them.
        heading: The headings under which it stands.
        spans: Where it stands in all documents; none if its position is not known.
    """

    text: str
    doc_id: DocumentId
    documents: frozenset[DocumentId] = frozenset()
    heading: str = ""
    spans: tuple[CharacterSpan, ...] = ()

    def is_that_of(self, other: "Evidence") -> bool:
        """Return whether it shares a part of one of its places with the other, or is the same text, no short one."""
        if is_long(self.text) and self.text.split() == other.text.split():
            return True
        return any(mine.overlaps(theirs) for mine in self.spans for theirs in other.spans)


def documents_of(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Return what is in each document, in the order in which the documents come; all in one if one has it all."""
    if not evidence:
        return []
    if frozenset[DocumentId].intersection(*(each.documents or frozenset({each.doc_id}) for each in evidence)):
        return [[*evidence]]
    return [*grouped((each.doc_id, each) for each in evidence).values()]


# Questions on their way into a dataset, and those that do not get there.

Stage: TypeAlias = Literal["parsed", "verified", "kept"]
"""What a question did not become: read from an answer, verified in the documents, or kept by the filters."""

FAILED = "request failed"
TOO_FEW = "fewer written than asked for"
TOO_FEW_DOCUMENTS = "answered in fewer documents than asked for"


@dataclass(frozen=True)
class Candidate(Generic[U]):
    """Question that a model proposed.

    Attributes:
        question: Its wording.
        request: What was asked for.
        strategy: The name of the strategy that asked.
        number: Its place in the order of the plan, from 0.
        cited: The ids of chunks that the model named, if it was asked for them.
        answers: What answers it, as ground truth takes it; none before it is verified.
        evidence: The text of each answer, with its position.
    """

    question: str
    request: QuestionRequest
    strategy: str = ""
    number: int = 0
    cited: tuple[ChunkId, ...] = ()
    answers: tuple[U | Answer[U], ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def excerpts(self) -> tuple[str, ...]:
        """The text of each answer."""
        return tuple(each.text for each in self.evidence)

    @property
    def told(self) -> str:
        """The text of all answers, for people."""
        return " | ".join(self.excerpts)


@dataclass(frozen=True)
class Rejection:
    """A rejected candidate and the reason.

    Attributes:
        stage: What it did not become.
        reason: Why, in words that are the same for all of the kind.
        detail: What is particular about it.
        question: The question; "" if there was none yet.
        doc_ids: The documents that it was asked about.
        questions: How many questions are lost: those that a request did not bring; 0 if only a quote of a question is.
    """

    stage: Stage
    reason: str
    detail: str = ""
    question: str = ""
    doc_ids: Sequence[DocumentId] = ()
    questions: int = 1


def rejected(candidate: Candidate[U], stage: Stage, reason: str, detail: str = "", questions: int = 1) -> Rejection:
    """Return the rejection of a candidate, or, with `questions=0`, of a part of it."""
    return Rejection(stage, reason, detail, candidate.question, candidate.request.doc_ids, questions)


Candidates: TypeAlias = Sequence[Candidate[Any]]
Reason: TypeAlias = tuple[str, str]
"""Why a question is not kept: the kind, and what is particular about it."""


def sifted(
    candidates: Sequence[Candidate[U]], stage: Stage, reasons: Iterable[Reason | None], rejections: list[Rejection]
) -> list[Candidate[U]]:
    """Return the candidates that nothing speaks against.

    Args:
        candidates: Questions.
        stage: What the others do not become.
        reasons: Why each is rejected; None if it is not.
        rejections: Where the others are put.
    """
    told = [*zip(candidates, reasons, strict=True)]
    rejections += [rejected(each, stage, *reason) for each, reason in told if reason is not None]
    return [each for each, reason in told if reason is None]


def parsed_questions(
    planned: Sequence[tuple[str, QuestionRequest]],
    answers: Sequence[Sequence[Candidate[U]] | ProviderError],
    rejections: list[Rejection],
) -> list[Candidate[U]]:
    """Return the questions that were written, in the order of the plan; those beyond what was asked for are not used.

    Args:
        planned: Each request, with the name of its strategy.
        answers: The questions of each, or why there are none.
        rejections: Where it is put what a request did not bring.

    Raises:
        ProviderError: Every request failed.
    """
    failures = [answer for answer in answers if isinstance(answer, ProviderError)]
    if failures and len(failures) == len(answers):
        raise failures[0]
    found: list[Candidate[U]] = []
    for (strategy, request), answer in zip(planned, answers, strict=True):
        lost = partial(Rejection, "parsed", doc_ids=request.doc_ids)
        if isinstance(answer, ProviderError):
            rejections.append(lost(FAILED, str(answer), questions=request.questions))
            continue
        found += [
            replace(each, strategy=strategy, number=number)
            for number, each in enumerate(answer[: request.questions], len(found))
        ]
        missing = request.questions - len(answer)
        if missing > 0:
            rejections.append(lost(TOO_FEW, f"{len(answer)} of {request.questions}", questions=missing))
    return found


def in_order(candidates: Sequence[Candidate[U]]) -> list[Candidate[U]]:
    """Return candidates in the order of the plan."""
    return sorted(candidates, key=lambda each: each.number)


def question_metadata(candidate: Candidate[Any], model: str, versions: Sequence[str]) -> dict[str, Any]:
    """Return the metadata of a question: its source, and the fields of its strategy."""
    return {
        **candidate.request.metadata,
        "source_docs": [*(dict.fromkeys(each.doc_id for each in candidate.evidence) or candidate.request.doc_ids)],
        "generation_model": model,
        "generation_type": "manual" if candidate.request.given else "synthetic",
        "strategy": candidate.strategy,
        "prompt_versions": [*versions],
    }


def answered_in_too_few(candidate: Candidate[Any]) -> Reason | None:
    """Return that a verified candidate is answered in fewer documents than was asked for; None if not."""
    if len(documents_of(candidate.evidence)) < candidate.request.least_documents:
        return TOO_FEW_DOCUMENTS, candidate.told
    return None


# The funnel: how many questions were asked for, and at which stage each of the others was lost.

_STAGES: tuple[Stage, ...] = ("parsed", "verified", "kept")


@dataclass(frozen=True)
class Funnel:
    """Counts of questions. Each stage is the one before it without what was rejected there.

    Attributes:
        asked: How many questions were asked for.
        parsed: How many of them a model wrote, and could be read.
        verified: How many of those have an answer that was found in the documents.
        kept: How many of those are in the dataset.
        rejected: For each stage, how many were lost before it, by reason.
        quotes: How many quotes or chunks were left out of questions that went on without them, by reason.
    """

    asked: int = 0
    parsed: int = 0
    verified: int = 0
    kept: int = 0
    rejected: Mapping[Stage, Mapping[str, int]] = field(default_factory=dict[Stage, Mapping[str, int]])
    quotes: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def of(cls, asked: int, rejections: Iterable[Rejection]) -> "Funnel":
        """Return the funnel of what was asked for and what was rejected."""
        counts: dict[Stage, Counter[str]] = {stage: Counter() for stage in _STAGES}
        quotes = Counter[str]()
        for rejection in rejections:
            if rejection.questions:
                counts[rejection.stage][rejection.reason] += rejection.questions
            else:
                quotes[rejection.reason] += 1
        lost = accumulate(counts[stage].total() for stage in _STAGES)
        left = {stage: asked - number for stage, number in zip(_STAGES, lost, strict=True)}
        told: dict[Stage, dict[str, int]] = {stage: dict(counts[stage].most_common()) for stage in _STAGES}
        return cls(asked, **left, rejected=told, quotes=dict(quotes.most_common()))

    def record(self) -> dict[str, Any]:
        """Return the counts as records hold them."""
        told = {stage: dict(reasons) for stage, reasons in self.rejected.items() if reasons}
        counts = {name: getattr(self, name) for name in ("asked", *_STAGES)}
        return {**counts, "rejected": told, "quotes_left_out": dict(self.quotes)}

    @property
    def told(self) -> str:
        """One line of counts: `asked 50, parsed 48, verified 41, kept 37 (not kept: 7 ambiguous quote, ...)`."""
        reasons = sum((Counter(dict(each)) for each in self.rejected.values()), Counter[str]())
        told = f"asked {self.asked}, parsed {self.parsed}, verified {self.verified}, kept {self.kept}"
        told += f" (not kept: {_counted(reasons)})" if reasons else ""
        return f"{told}; left out of questions: {_counted(Counter(self.quotes))}" if self.quotes else told


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
