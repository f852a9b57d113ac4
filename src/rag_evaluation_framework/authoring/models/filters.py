"""Candidate questions, the evidence of each, why some are rejected, and counts of questions by stage.

Filters return for each question None, or the reason why it is not kept.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, combinations, starmap
from typing import Any, Generic, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnChunker
from ...base.outside import grouped, one_line, shown
from ...components.retrievers import BM25Retriever
from ...contracts import Chunker, PositionAwareChunker
from ...contracts.roles import Embedder, QuestionRequest, Role, checked_parts, joined
from ...data import Answer, CharacterSpan, ChunkId, Corpus, DocumentId
from ...data.levels import U
from ...datasets.checks.lint import wording_key
from ...errors import InputError, ProviderError
from ...text.terms import words
from ...text.text_locator import is_long
from .asking import Asker, Verdict, load_prompt, marked
from .strategies import Headings

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
            rejections.append(lost("request failed", str(answer), questions=request.questions))
            continue
        written = enumerate(answer[: request.questions], len(found))
        found += [replace(each, strategy=strategy, number=number) for number, each in written]
        missing = request.questions - len(answer)
        if missing > 0:
            told = f"{len(answer)} of {request.questions}"
            rejections.append(lost("fewer written than asked for", told, questions=missing))
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
        return "answered in fewer documents than asked for", candidate.told
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


# What is certainly no question, or no answer to one. Doubtful ones pass: filters and the second call judge them.

REPEATED = "quote is the question itself"

_FEWEST_WORDS, _LONGEST = 2, 1000  # the longest public question has 173 characters
_ALL, _MUCH = 0.9, 1000  # of less than 1,000 characters all may well be the answer
_SHOWN = re.compile(
    r"\b(?:this (?:passage|excerpt|chunk)"
    r"|(?:does|do) (?:the|these) (?:passage|excerpt|chunk|text)s? (?:say|tell|list|mention|state|describe)"
    r"|(?:the|this) (?:given|provided|above) context|(?:pa_)?chunk_[0-9a-f]{12}"
    r"|(?:in|on|to) (?:the|this|these)(?: above)? (?:passage|excerpt|chunk|text|document)s?(?= about|\s*[,;:?.!]|$))",
    re.IGNORECASE,
)


def flaw_of_wording(candidate: Candidate[Any]) -> Reason | None:
    """Return why the wording of a candidate cannot be that of a question: nothing more is asked about it."""
    text = candidate.question
    if candidate.request.given:  # users also search by a single word
        return None
    if len(text) > _LONGEST or len(words(text, None)) < _FEWEST_WORDS:
        return "not a question", ""
    return ("speaks of what was shown", "") if _SHOWN.search(text) else None


def without_question(candidate: Candidate[U], rejections: list[Rejection]) -> Candidate[U]:
    """Return a candidate without the quotes that repeat it, if there are others."""
    asked = wording_key(candidate.question)
    others = [number for number, text in enumerate(candidate.excerpts) if wording_key(text) != asked]
    if not others or len(others) == len(candidate.excerpts):
        return candidate
    left_out = [text for number, text in enumerate(candidate.excerpts) if number not in others]
    rejections += [rejected(candidate, "verified", REPEATED, text, questions=0) for text in left_out]
    answers, evidence = candidate.answers, candidate.evidence
    return replace(candidate, answers=tuple(answers[n] for n in others), evidence=tuple(evidence[n] for n in others))


def flaw_of_quotes(candidate: Candidate[Any]) -> Reason | None:
    """Return why the quotes of a candidate cannot be an answer, such as that they are the question, as headings are."""
    quoted = "".join(candidate.excerpts)
    if sum(map(str.isalnum, quoted)) < 2:
        return "quote of a single character", candidate.told
    if wording_key(candidate.question) in map(wording_key, candidate.excerpts):
        return REPEATED, candidate.told
    shown = sum(len(section.text.strip()) for section in candidate.request.sections)
    return ("quote of all that was shown", candidate.told) if len(quoted) >= max(_ALL * shown, _MUCH) else None


# The second call: whether the excerpts of a question, and nothing else, answer it.

CHECK = "answerable"
REASONS = {"partly": "answered only in part", "no": "not answered"}
UNCHECKED = "could not be checked"
ANSWERED = {"yes": "answered after all", "partly": "answered in part after all"}
DEPTH = 20
"""How many passages are judged for a question without an answer."""


def checking(question: str, evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    """Return the messages of the call about a question."""
    told = [{"document": each.doc_id, "heading": each.heading} for each in evidence]
    excerpts = marked("excerpt", [each.text for each in evidence], question, told)
    return load_prompt(CHECK).messages(question=question, excerpts=excerpts)


def unanswerable(candidates: Candidates, asker: Asker) -> Iterator[Reason | None]:
    """Yield why the excerpts of each question alone do not answer it, as the model judges in a call of its own."""
    asked = [checking(each.question, each.evidence) for each in candidates]
    for candidate, verdict in zip(candidates, asker.ask(Verdict, asked, "Checking"), strict=True):
        if isinstance(verdict, ProviderError):
            yield UNCHECKED, str(verdict)
        elif verdict.answer == "yes":
            yield None
        else:
            left_open = f"; left open: {verdict.missing}" if verdict.missing.strip() else ""
            yield REASONS[verdict.answer], f"{candidate.told}{left_open}"


def answered_by_a_part(candidates: Candidates, asker: Asker) -> list[Reason | None]:
    """Return of each question that has to be answered by several documents whether one of them is enough."""
    of_several = ((number, each) for number, each in enumerate(candidates) if each.request.least_documents > 1)
    parts = [(number, part) for number, each in of_several for part in documents_of(each.evidence)]
    asked = [checking(candidates[number].question, part) for number, part in parts]
    found: dict[int, Reason] = {}
    for (number, part), verdict in zip(parts, asker.ask(Verdict, asked, "Checking parts"), strict=True):
        if isinstance(verdict, ProviderError):
            found.setdefault(number, (UNCHECKED, str(verdict)))
        elif verdict.answer == "yes":
            found.setdefault(number, ("answered by one part alone", " | ".join(each.text for each in part)))
    return [found.get(number) for number in range(len(candidates))]


def answered_after_all(
    candidates: Candidates,
    corpus: Corpus,
    headings: Headings,
    chunker: Chunker | PositionAwareChunker | OwnChunker,
    asker: Asker,
) -> Iterator[Reason | None]:
    """Yield for each question without an answer which of the passages that BM25 finds answer it, wholly or in part."""
    if not candidates:
        return
    retriever = BM25Retriever(chunker)
    retriever.index(corpus)
    found: list[list[Evidence]] = []
    for candidate in candidates:
        hits = cast("Sequence[Any]", retriever.retrieve(candidate.question, DEPTH).hits)  # with a document and a text
        found.append([Evidence(hit.text, hit.doc_id, heading=headings.at(hit.doc_id, hit.start)) for hit in hits])
    asked = [checking(each.question, evidence) for each, evidence in zip(candidates, found, strict=True)]
    for evidence, verdict in zip(found, asker.ask(Verdict, asked, "Looking for answers"), strict=True):
        if isinstance(verdict, ProviderError):
            yield UNCHECKED, str(verdict)
        else:
            reason = ANSWERED.get(verdict.answer)
            yield None if reason is None else (reason, " | ".join(each.text for each in evidence))


# Questions in the same words.


def contradicted(candidates: Candidates) -> Iterator[Reason | None]:
    """Yield the answer that contradicts that of each question: of one wording, two are answered by different texts.

    Such a question does not say what it is about, so that several documents, or places, answer it differently: none of
    them is kept. What users ask stays: they do ask so.
    """
    alike = grouped((wording_key(each.question), each) for each in candidates)
    differing = {key: group for key, group in alike.items() if not all(starmap(_agree, combinations(group, 2)))}
    for each in candidates:
        others = differing.get(wording_key(each.question))
        if others is None or each.request.given:
            yield None
        else:  # without one that differs itself, two others do
            told = next((other for other in others if not _agree(each, other)), others[0])
            yield "same question with another answer", told.told or "no answer"


def _agree(one: Candidate[Any], other: Candidate[Any]) -> bool:
    """Return whether the same texts, in part at least, answer both; or nothing does."""
    if not (one.answers and other.answers):
        return not (one.answers or other.answers)
    if not {*one.answers}.isdisjoint(other.answers):
        return True
    return any(mine.is_that_of(theirs) for mine in one.evidence for theirs in other.evidence)


def same_wording(candidates: Candidates) -> list[Reason | None]:
    """Tell the questions that have the wording of an earlier one, up to capitals and punctuation."""
    first: dict[str, Candidate[Any]] = {}
    earlier = [first.setdefault(wording_key(each.question), each) for each in candidates]
    pairs = zip(earlier, candidates, strict=True)
    return [None if one is each else ("same question again", one.question) for one, each in pairs]


# Filters of questions and excerpts from anywhere. Cosines have six decimals: the same pair is above or below a
# threshold on every machine.

RELEVANCE_THRESHOLD = 0.40
"""The cosine that a question has with each excerpt at the least, published for OpenAI's text-embedding-3."""
DEDUP_THRESHOLD = 0.70
"""Questions with a higher cosine count as the same question; published for OpenAI's text-embedding-3."""

_DECIMALS = 6


def reject_irrelevant(
    questions: Sequence[str],
    excerpts: Sequence[Sequence[str]],
    embedder: Embedder,
    threshold: float = RELEVANCE_THRESHOLD,
) -> list[Reason | None]:
    """Return for each question None, or that its worst excerpt is less like it than the threshold.

    The worst excerpt decides, not the mean: one excerpt that belongs to nothing spoils an answer. A cosine that equals
    the threshold passes. A question without excerpts passes, as there is nothing to compare; with a text of which the
    embedder knows no word the cosine is 0.

    Args:
        questions: The questions.
        excerpts: The texts of the answers of each question.
        embedder: What makes vectors, fitted.
        threshold: The least cosine. 0.40 means something else with every other embedder than text-embedding-3.

    Raises:
        InputError: Questions and lists of excerpts differ in number, or the embedder returns no vectors.
    """
    if len(questions) != len(excerpts):
        raise InputError(
            f"{len(questions)} questions with {len(excerpts)} lists of excerpts; expected one list for each question"
        )
    asked = _directions(embedder, questions, "query")
    texts = list(dict.fromkeys(text for quotes in excerpts for text in quotes))
    row, told = {text: number for number, text in enumerate(texts)}, _directions(embedder, texts)
    found: list[Reason | None] = []
    for number, quotes in enumerate(excerpts):
        cosines = [round(float(asked[number] @ told[row[text]]), _DECIMALS) for text in quotes]
        figure = min(cosines, default=1.0)
        which = f"excerpt {cosines.index(figure) + 1} of {len(quotes)}" if len(quotes) > 1 else "its excerpt"
        why = f"its cosine with {which} is {figure:.2f}; expected at least {threshold:.2f}"
        found.append(("irrelevant", why) if figure < threshold else None)
    return found


def reject_near_duplicates(
    questions: Sequence[str], embedder: Embedder, threshold: float = DEDUP_THRESHOLD
) -> list[Reason | None]:
    """Return for each question None, or which earlier question it repeats.

    In their order: a question is rejected if its cosine with an earlier one that is kept is above the threshold; one
    that equals it is kept, as in Chroma's own filter. What is rejected rejects nothing, so the result depends on the
    order and on nothing else. Give only questions that other filters keep.

    Args:
        questions: The questions, those to be preferred first.
        embedder: What makes vectors, fitted.
        threshold: The highest cosine of questions that differ. 0.70 means something else with every other embedder than
            text-embedding-3.

    Raises:
        InputError: The embedder returns no vectors.
    """
    asked = _directions(embedder, questions, "query")
    held, kept = np.empty_like(asked), list[int]()
    found: list[Reason | None] = []
    for number, vector in enumerate(asked):
        alike = (held[: len(kept)] @ vector).round(_DECIMALS)
        if kept and alike.max() > threshold:
            like = kept[int(alike.argmax())]
            told = f"it has a cosine of {alike.max():.2f} with question {like + 1}, {one_line(shown(questions[like]))}"
            found.append(("near duplicate", told))
        else:
            held[len(kept)] = vector
            kept.append(number)
            found.append(None)
    return found


def _directions(embedder: Embedder, texts: Sequence[str], role: Role = "text") -> NDArray[np.float64]:
    """Return the vectors of texts at length 1, shape (len(texts), dimension); zeros stay zeros.

    Raises:
        InputError: The embedder returns other than one vector of finite numbers for each text.
    """
    if not texts:
        return np.zeros((0, 0))
    vectors = joined(checked_parts(embedder, texts, role), len(texts)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = vectors / np.where(lengths == 0, 1, lengths)
    return unit
