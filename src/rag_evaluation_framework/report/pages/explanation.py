"""One question as people read it: what it found, what it missed and why, with the passages marked."""

from collections.abc import Iterator, Sequence

from rag_evaluation_framework.attribution.explaining import (
    ExplainedAnswer,
    Explanation,
    Missed,
    Neighbour,
    RankedResult,
)
from rag_evaluation_framework.attribution.losses import Cause
from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.data import CharacterSpan, Corpus, Hit
from rag_evaluation_framework.report.page import Line, Lines, Part, Passage, Passages, Role, line, plural
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.pages.causes import told
from rag_evaluation_framework.report.pages.result import note_lines
from rag_evaluation_framework.results.shown import number
from rag_evaluation_framework.text.line_places import LinePlaces

_MOST_RESULTS = 10  # that hold nothing relevant, or were not read
_MOST_BEFORE = 3


def explanation_page(known: Explanation) -> Page:
    """Return an explanation as people read it: its recall, the results, the answers, and what changed to a baseline."""
    return Page(known.text or "–", tuple(_Explained(known).blocks()), aside=f"({known.query_id})")


def text_of(text: str, relevant: Sequence[tuple[int, int]]) -> tuple[Part, ...]:
    """Return a text that was read, in parts: what is relevant of it, and the rest."""
    parts: list[Part] = []
    at = 0
    for start, end in relevant:
        parts += [Part(text[at:start], "read"), Part(text[start:end], "found")]
        at = end
    return (*parts, Part(text[at:], "read"))


class Places:
    """Where results and answers are, as people read it: `file:line:column`, else an id."""

    def __init__(self, corpus: Corpus | None) -> None:
        self.corpus = corpus
        self._lines = None if corpus is None else LinePlaces(corpus)

    def of_hit(self, hit: Hit) -> str:
        """Return where a result is."""
        return self.of_unit(hit.span) if hit.span is not None else hit.doc_id or hit.chunk_id or "without a place"

    def of_unit(self, unit: object) -> str:
        """Return where a span is, or the id that a unit is."""
        if not isinstance(unit, CharacterSpan):
            return str(unit)
        if self.corpus is None or self._lines is None or unit.doc_id not in self.corpus:
            return str(unit.doc_id)
        return self._lines.named(unit)


class _Explained:
    def __init__(self, known: Explanation) -> None:
        self.known, self.places = known, Places(known.corpus)

    def blocks(self) -> Iterator[Lines | Passages]:
        known = self.known
        verdict: Role = "verdict" if known.recall is None else "good" if known.recall == 1 else "bad"
        yield Lines((line((f"{known.run}, {known.score}: {self._score()}", verdict)),))
        yield Lines(note_lines(known.notes))
        yield self._answers()
        yield Passages(tuple(passage for answer in known.answers for passage in self._missed(answer)), "Missed")
        yield from self._results()
        yield self._gone()

    def _score(self) -> str:
        known = self.known
        recall = known.status if known.recall is None else number(known.recall)
        if known.baseline is None or (known.before is None and not known.knows_ranks):
            return recall
        return f"{recall}; {number(known.before)} in the baseline {name_line(known.baseline)}"

    def _results(self) -> Iterator[Lines | Passages]:
        known = self.known
        read = [result for result in known.results if result.read != "none"]
        wanted = {answer.rank for answer in known.answers}
        title = f"Results within @{known.cutoff}"
        shown = [*read[:_MOST_RESULTS], *(result for result in read[_MOST_RESULTS:] if result.relevant)]
        if not read:
            yield Lines((line("none", indent=2),), title)
        yield Passages(tuple(map(self._result, shown)), title)
        if len(shown) < len(read):
            yield Lines((line((f"and {len(read) - len(shown)} more without relevant text", "muted"), indent=4),))
        later = [result for result in known.results if result.read == "none" and result.rank in wanted]
        yield Passages(tuple(map(self._result, later)), "Behind the cutoff, with more of an answer")

    def _result(self, result: RankedResult) -> Passage:
        notes = ["cut by the budget"] if result.read == "part" else []
        if self.known.knows_ranks:
            notes.append(_moved(result.was, result.rank))
        parts = text_of(result.text, result.relevant)
        return Passage(parts, self.places.of_hit(result.hit), str(result.rank), ", ".join(notes))

    def _gone(self) -> Lines:
        lines: list[Line] = []
        for hit, was, rank in self.known.gone[:_MOST_RESULTS]:
            now = "not among the results" if rank is None else f"now {rank}"
            lines.append(line((self.places.of_hit(hit), "place"), (f", was {was}, {now}", "muted"), indent=4))
        more = len(self.known.gone) - _MOST_RESULTS
        if more > 0:
            lines.append(line((f"and {more} more", "muted"), indent=4))
        return Lines(tuple(lines), "Read in the baseline only")

    def _answers(self) -> Lines:
        known = self.known
        lines = [one for answer in known.answers for one in self._answer(answer)]
        if not known.answers and known.status == "failed":
            lines = [line("its retrieval failed, so nothing was found", indent=2)]
        elif not known.answers:
            lines = [line("nothing in the documents answers it, so nothing could be found", indent=2)]
        return Lines(tuple(lines), "Answers")

    def _answer(self, answer: ExplainedAnswer) -> Iterator[Line]:
        places = [self.places.of_unit(place[0]) for place in answer.answer.places]
        others = f" or {plural(len(places) - 1, 'other place')}" if len(places) > 1 else ""
        yield line((places[0], "place"), f"{others}: {answer.recall:.0%} found{self._found_at(answer)}", indent=2)
        for cause in answer.causes:
            words = told(cause, self.known.depth)
            yield line(f"{answer.lost[cause]:.0%} {words}{self._at(cause, answer)}", indent=4)
        if answer.is_split:
            yield line("split by the chunker: no chunk holds it whole", indent=4)
        if answer.is_truncated:
            yield line("truncated by the embedder: what is missing is behind what it reads of the chunk", indent=4)
        if answer.is_cut_off:
            yield line("cut off by the budget: what is missing is behind what it reads of the chunk", indent=4)

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
        named = [self.places.of_hit(hit) for hit in answer.before[:_MOST_BEFORE]]
        more = len(answer.before) - len(named)
        behind = f", behind {', '.join(named)}{f' and {more} more' if more > 0 else ''}" if named else ""
        return f": rank {answer.rank}{f' ({first})' if first else ''}{behind}"

    def _missed(self, answer: ExplainedAnswer) -> Iterator[Passage]:
        for missed in answer.missed:
            parts = (
                Part(self._ahead(missed), "muted"),
                Part(missed.span.text or "(its text is not in the corpus)", "missed"),
                Part(self._behind(missed), "muted"),
            )
            chunks = ", ".join(map(self._neighbour, missed.neighbours))
            yield Passage(parts, self.places.of_unit(missed.span), "", f"chunks: {chunks}" if chunks else "")

    def _ahead(self, missed: Missed) -> str:
        """Return what is before missed text, from the beginning of a word."""
        return missed.before if missed.span.start <= len(missed.before) else f"… {missed.before.partition(' ')[2]}"

    def _behind(self, missed: Missed) -> str:
        corpus, span = self.known.corpus, missed.span
        length = len(corpus[span.doc_id].content) if corpus is not None and span.doc_id in corpus else 0
        return missed.after if span.end + len(missed.after) >= length else f"{missed.after.rpartition(' ')[0]} …"

    def _neighbour(self, near: Neighbour) -> str:
        first = "not retrieved" if near.first_rank is None else f"rank {near.first_rank} before reranking"
        rank = first if near.rank is None else f"rank {near.rank}"
        return f"{self.places.of_unit(near.place)}{' holding it' if near.holds else ''} {rank}"


def _moved(was: int | None, rank: int) -> str:
    if was is None:
        return "new"
    return "as before" if was == rank else f"was {was}"
