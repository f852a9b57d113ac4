"""Questions on their way into a dataset, and those that do not get there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, TypeAlias

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.ids import ChunkId, DocumentId
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.evidence import Evidence, documents_of, places_of

Stage: TypeAlias = Literal["parsed", "verified", "kept"]
"""What a question did not become: read from an answer, verified in the documents, or kept by the filters."""

FAILED = "request failed"
TOO_FEW = "fewer written than asked for"
TOO_FEW_PLACES = "answered in fewer places than asked for"
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
    def parts(self) -> list[list[Evidence]]:
        """Its evidence by what none may answer alone: by document, or by place; one part if nothing is promised."""
        if self.request.least_documents > 1:
            return documents_of(self.evidence)
        return places_of(self.evidence) if self.request.least_places > 1 else [[*self.evidence]]


@dataclass(frozen=True)
class Rejection:
    """What was not taken, and why.

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


def parsed_questions(
    planned: Sequence[tuple[str, QuestionRequest]],
    answers: Sequence[Sequence[Candidate[U]] | ProviderError],
    rejections: list[Rejection],
) -> tuple[list[Candidate[U]], int]:
    """Return the questions that were written, in the order of the plan, and how many more than were asked for.

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
    extra = 0
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
        extra += max(-missing, 0)
        if missing > 0:
            rejections.append(lost(TOO_FEW, f"{len(answer)} of {request.questions}", questions=missing))
    return found, extra


def in_order(candidates: Sequence[Candidate[U]]) -> list[Candidate[U]]:
    """Return candidates in the order of the plan."""
    return sorted(candidates, key=lambda each: each.number)


def question_metadata(candidate: Candidate[Any], model: str, versions: Sequence[str]) -> dict[str, Any]:
    """Return what is kept with a question: where it comes from, and what its strategy says of it."""
    return {
        **candidate.request.metadata,
        "source_docs": [*(dict.fromkeys(each.doc_id for each in candidate.evidence) or candidate.request.doc_ids)],
        "generation_model": model,
        "generation_type": "manual" if candidate.request.given else "synthetic",
        "strategy": candidate.strategy,
        "prompt_versions": [*versions],
    }


def answered_as_asked(candidates: Sequence[Candidate[U]], rejections: list[Rejection]) -> list[Candidate[U]]:
    """Return verified candidates that are answered in as many places, and documents, as was asked for."""
    kept: list[Candidate[U]] = []
    for candidate in candidates:
        request, told = candidate.request, " | ".join(candidate.excerpts)
        if len(places_of(candidate.evidence)) < request.least_places:
            rejections.append(rejected(candidate, "verified", TOO_FEW_PLACES, told))
        elif len(documents_of(candidate.evidence)) < request.least_documents:
            rejections.append(rejected(candidate, "verified", TOO_FEW_DOCUMENTS, told))
        else:
            kept.append(candidate)
    return kept
