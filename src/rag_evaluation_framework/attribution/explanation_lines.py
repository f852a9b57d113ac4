"""An explanation as lines, for terminals, text and HTML."""

import re
from collections.abc import Iterator, Sequence

from rag_evaluation_framework._outside import harmless, name_line, one_line
from rag_evaluation_framework.attribution.causes import Cause, told
from rag_evaluation_framework.attribution.explanation import (
    ExplainedAnswer,
    Explanation,
    Line,
    Missed,
    Neighbour,
    Part,
    RankedResult,
)
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.results.summary import number
from rag_evaluation_framework.text.line_places import LinePlaces

_MOST_RESULTS = 10  # that hold nothing relevant, or were not read
_MOST_BEFORE = 3
_BESIDE = 60  # characters of a result beside what is relevant in it
_LONGEST = 400  # characters of either end of relevant text
_LINE = 1000
_SPACE = re.compile(r"\s+")


def lines_of(told_of: Explanation, corpus: Corpus, cutoff: str) -> Iterator[Line]:
    """Yield an explanation as lines: the question, its results, its answers, and what changed beside a baseline.

    Args:
        told_of: The explanation.
        corpus: The documents.
        cutoff: Where rankings are cut, as it is printed.
    """
    yield from _Lines(told_of, corpus, cutoff).all()


class _Lines:
    def __init__(self, known: Explanation, corpus: Corpus, cutoff: str) -> None:
        self.known, self.corpus, self.cutoff = known, corpus, cutoff
        self.places = LinePlaces(corpus)

    def all(self) -> Iterator[Line]:
        known = self.known
        yield Line(
            (Part(one_line(known.text, _LINE) or "–", "title"), Part(f" ({name_line(known.query_id)})", "faint"))
        )
        yield Line((Part(f"{name_line(known.run)}, {known.score}: {self._score()}"),))
        for note in known.notes:
            yield Line((Part(one_line(note, _LINE), "faint"),), 2, "!")
        yield Line(())
        yield from self._results()
        yield from self._gone()
        yield Line(())
        yield Line((Part("Answers", "label"),))
        if not known.answers:
            yield Line((Part(self._no_answers()),), 2)
        for answer in known.answers:
            yield from self._answer(answer)

    def _score(self) -> str:
        known = self.known
        recall = known.status if known.recall is None else number(known.recall)
        if known.baseline is None or (known.before is None and not known.knows_ranks):
            return recall
        return f"{recall}; {number(known.before)} in the baseline {name_line(known.baseline)}"

    def _no_answers(self) -> str:
        if self.known.status == "failed":
            return "its retrieval failed, so that nothing was found"
        return "nothing in the documents answers it, so that nothing could be found"

    def _results(self) -> Iterator[Line]:
        known = self.known
        read = [result for result in known.results if result.read != "none"]
        wanted = {answer.rank for answer in known.answers}
        yield Line((Part(f"Results within @{self.cutoff}", "label"),))
        if not read:
            yield Line((Part("none"),), 2)
        shown = [*read[:_MOST_RESULTS], *(result for result in read[_MOST_RESULTS:] if result.relevant)]
        for result in shown:
            yield from self._result(result)
        if len(shown) < len(read):
            yield Line((Part(f"and {len(read) - len(shown)} more without relevant text", "faint"),), 4)
        later = [result for result in known.results if result.read == "none" and result.rank in wanted]
        if later:
            yield Line((Part("Behind the cutoff, with more of an answer", "label"),))
        for result in later:
            yield from self._result(result)

    def _result(self, result: RankedResult) -> Iterator[Line]:
        parts = [Part(self._where(result.hit), "place")]
        if result.read == "part":
            parts.append(Part(", cut by the budget", "faint"))
        if self.known.knows_ranks:
            parts.append(Part(f", {_moved(result.was, result.rank)}", "faint"))
        yield Line(tuple(parts), 4, f"{result.rank:>3}")
        yield Line(_trimmed([*_shortened(result.text, result.relevant)]), 4)

    def _gone(self) -> Iterator[Line]:
        if not self.known.gone:
            return
        yield Line((Part("Read in the baseline only", "label"),))
        for hit, was, rank in self.known.gone[:_MOST_RESULTS]:
            now = "not among the results" if rank is None else f"now {rank}"
            yield Line((Part(self._where(hit), "place"), Part(f", was {was}, {now}", "faint")), 4)
        if len(self.known.gone) > _MOST_RESULTS:
            yield Line((Part(f"and {len(self.known.gone) - _MOST_RESULTS} more", "faint"),), 4)

    def _answer(self, answer: ExplainedAnswer) -> Iterator[Line]:
        places = [self._unit(place[0]) for place in answer.answer.places]
        others = f" or {len(places) - 1} other place{'s' * (len(places) > 2)}" if len(places) > 1 else ""
        found = f"{answer.recall:.0%} found{self._found_at(answer)}"
        yield Line((Part(places[0], "place"), Part(f"{others}: {found}")), 2)
        for cause in answer.causes:
            words = told(cause, self.known.depth)
            yield Line((Part(f"{answer.lost[cause]:.0%} {words}{self._at(cause, answer)}"),), 4)
        if answer.is_split:
            yield Line((Part("split by the chunker: no chunk holds it whole"),), 4)
        if answer.is_truncated:
            yield Line((Part("truncated by the embedder: what is missing is behind what it reads of the chunk"),), 4)
        if answer.is_cut_off:
            yield Line((Part("cut off by the budget: what is missing is behind what it reads of the chunk"),), 4)
        for missed in answer.missed:
            yield from self._missed(missed)

    def _found_at(self, answer: ExplainedAnswer) -> str:
        now = "not found" if answer.found_at is None else f"first found at rank {answer.found_at}"
        if not self.known.knows_ranks:
            return f", {now}"
        was = "not found" if answer.was_found_at is None else f"rank {answer.was_found_at}"
        return f", {now}; in the baseline: {was}"

    def _at(self, cause: Cause, answer: ExplainedAnswer) -> str:
        """Return at which rank more of an answer is found, and what stood before it, where a ranking lost it."""
        if cause not in ("not_a_candidate", "beyond_cutoff", "dropped_by_reranker"):
            return ""
        first_rank = answer.outside_rank if cause == "not_a_candidate" else answer.first_rank
        first = "" if first_rank is None else f"rank {first_rank} before reranking"
        if answer.rank is None or cause == "not_a_candidate":
            return f": {first}" if first else ""
        named = [self._where(hit) for hit in answer.before[:_MOST_BEFORE]]
        more = len(answer.before) - len(named)
        behind = f", behind {', '.join(named)}{f' and {more} more' if more > 0 else ''}" if named else ""
        return f": rank {answer.rank}{f' ({first})' if first else ''}{behind}"

    def _missed(self, missed: Missed) -> Iterator[Line]:
        text = _within(_flat(missed.span.text))
        quote = Part(text.strip() or "(its text is not in the corpus)", "missed")
        before, after = _flat(missed.before), _flat(missed.after)
        if missed.span.start > len(missed.before):
            before = f"… {before.lstrip().partition(' ')[2]}"
        if missed.span.end + len(missed.after) < self._length(missed.span):
            after = f"{after.rstrip().rpartition(' ')[0]} …"
        ends = (" " * text.startswith(" "), " " * text.endswith(" "))
        parts = [Part(before + ends[0], "faint"), quote, Part(ends[1] + after, "faint")]
        yield Line(_trimmed(parts), 13, "    missed")
        if missed.neighbours:
            told_of = ", ".join(map(self._neighbour, missed.neighbours))
            yield Line((Part(told_of),), 13, "    chunks")

    def _length(self, span: CharacterSpan) -> int:
        return len(self.corpus[span.doc_id].content) if span.doc_id in self.corpus else 0

    def _neighbour(self, near: Neighbour) -> str:
        first = "not retrieved" if near.first_rank is None else f"rank {near.first_rank} before reranking"
        rank = first if near.rank is None else f"rank {near.rank}"
        return f"{self._unit(near.place)}{' holding it' if near.holds else ''} {rank}"

    def _where(self, hit: Hit) -> str:
        span = hit.span
        if span is not None and span.doc_id in self.corpus:
            return self.places.named(span)
        return name_line(hit.doc_id or hit.chunk_id or "without a place")

    def _unit(self, unit: object) -> str:
        if isinstance(unit, CharacterSpan):
            return self.places.named(unit) if unit.doc_id in self.corpus else name_line(unit.doc_id)
        return name_line(str(unit))


def _moved(was: int | None, rank: int) -> str:
    if was is None:
        return "new"
    return "as before" if was == rank else f"was {was}"


def _shortened(text: str, relevant: Sequence[tuple[int, int]]) -> Iterator[Part]:
    """Yield what is relevant of a text, with some of what is beside it; of one without anything, the beginning."""
    at = 0
    for start, end in relevant:
        yield from _beside(text[at:start], has_before=at > 0, has_after=True)
        yield Part(_within(_flat(text[start:end])), "relevant")
        at = end
    yield from _beside(text[at:], has_before=at > 0, has_after=False)


def _beside(text: str, *, has_before: bool, has_after: bool) -> Iterator[Part]:
    """Yield text that is not relevant: of a long one what is next to what is."""
    flat = _flat(text)
    most = _BESIDE * (has_before + has_after) if has_before or has_after else 2 * _BESIDE
    if len(flat) <= most:
        yield Part(flat)
    elif has_before and has_after:
        yield Part(f"{flat[:_BESIDE].rstrip()} … {flat[-_BESIDE:].lstrip()}")
    elif has_after:
        yield Part(f"… {flat[-_BESIDE:].lstrip()}")
    else:
        yield Part(f"{flat[:most].rstrip()} …")


def _trimmed(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return parts without white space at their ends, and without those that say nothing."""
    told = [part for part in parts if part.text.strip()]
    texts = [part.text for part in told]
    if texts:
        texts[0] = texts[0].lstrip()
        texts[-1] = texts[-1].rstrip()
    return tuple(Part(text, part.style) for text, part in zip(texts, told, strict=True))


def _within(text: str) -> str:
    """Return relevant text; of a long one both ends."""
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST].rstrip()} … {text[-_LONGEST:].lstrip()}"


def _flat(text: str) -> str:
    """Return harmless text on one line; of white space at its ends, a blank stays."""
    return harmless(_SPACE.sub(" ", text))
