"""Questions of a run as people read them: what should have been found and what was, marked in the documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.data import CharacterSpan, Corpus, Hit, merge_overlapping_spans
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, Cutoff
from rag_evaluation_framework.data.hits import RankedHits
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.report.page import Lines, Page, Part, Passage, Passages, Role, line, plural
from rag_evaluation_framework.report.pages.explanation import Places, text_of
from rag_evaluation_framework.results import EvaluationResult, QueryResult, number
from rag_evaluation_framework.text.reading import ContextBudget, HitReader
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

_MOST_RESULTS = 10
_AROUND = 200  # characters of a document around an answer
_LONGEST = 20_000  # characters of an answer or a result: of longer ones the begin

Result = EvaluationResult[Any]


def anchor_of(result: Result, query_id: str) -> str:
    """Return by what links lead to a question: its number in the dataset, as ids may hold anything."""
    return f"question-{result.scores.rows[query_id] + 1}"


def questions_page(
    result: Result, query_ids: Sequence[str], corpus: Corpus | None, why: str = "", which: str = ""
) -> Page:
    """Return questions with their passages, each to be opened.

    Args:
        result: The result.
        query_ids: Which questions, in the order in which they are shown.
        corpus: The documents; without them only places are shown.
        why: Why they are not there.
        which: Which questions these are, in words.
    """
    found = result.queries.found is not None
    notes = [
        *([which] if which else []),
        *([f"The documents are not shown: {why}"] if corpus is None and why else []),
        *([] if found else ["What was retrieved is not known: this is a report alone."]),
    ]
    pages = (_page(result, query_id, corpus) for query_id in query_ids)
    return Page("Questions", (Lines(tuple(line((told, "muted")) for told in notes)), *pages), "questions")


def _page(result: Result, query_id: str, corpus: Corpus | None) -> Page:
    query: QueryResult[Any] = result.queries[result.scores.rows[query_id]]
    name = result.score_names[0]
    score = query.scores.get(name)
    told = query.status if score is None else f"{name} {number(score)}"
    return Page(
        query.text or "–",
        tuple(_Question(result, query, corpus).blocks()),
        anchor_of(result, query_id),
        f"{told} ({query_id})",
        folded=True,
    )


class _Question:
    def __init__(self, result: Result, query: QueryResult[Any], corpus: Corpus | None) -> None:
        self.result, self.query, self.corpus = result, query, corpus
        self.rules = RULES[result.evaluation_type]
        self.places = Places(corpus)
        self.hits = query.hits if result.queries.found is not None else ()
        self.read, self.reached = self._within(result.cutoffs[0])

    def _within(self, first: str) -> tuple[Sequence[Hit], int]:
        """Return what is read at a cutoff, the result in which a budget ends cut, and how many results it reaches."""
        hits, config = self.hits, self.result.config
        if first == str(OWN_CUTOFF):
            usual = next((cutoff for cutoff in self.result.cutoffs if cutoff.isdigit()), str(len(hits)))
            others: Mapping[str, int] = config.get("top_k") or {}
            first = str(others.get(self.query.query_id, usual))
        cutoff = Cutoff.parse(first)
        if not cutoff.is_budget or self.corpus is None:  # without the documents, no text is marked
            most = len(hits) if cutoff.is_budget else cutoff.size
            return hits[:most], most
        counter = resolve_tokenizer(config["tokenizer"]) if cutoff.unit == "tok" else None
        budget = ContextBudget(cutoff, counter, HitReader(self.corpus))
        reached = budget.depth(hits)
        return budget.buy(RankedHits.of([hits])).hits[0], len(hits) if reached is None else reached

    def blocks(self) -> Iterator[Lines | Passages]:
        query = self.query
        scores = (f"{name} {number(score)}" for name, score in query.scores.items())
        lines = [line((", ".join(scores), "muted"))] if query.scores else []
        if query.noted_text != query.text and query.text:
            lines.append(line(query.noted_text.removeprefix(query.text).strip(" –")))
        lines += [line((f"{one.stage}: {one.kind}: {one.message}", "bad")) for one in query.failures]
        yield Lines(tuple(lines))
        yield self._answers()
        yield self._results()

    def _answers(self) -> Lines | Passages:
        answers = self.query.answers
        if not answers:
            text = "Nothing in the documents answers it." if self.query.status == "no-answer" else "Not known."
            return Lines((line(text),), "Answers")
        passages = (
            self._answer(unit, "or" if number else f"Answer {at}" if len(answers) > 1 else "")
            for at, answer in enumerate(answers, 1)
            for number, place in enumerate(answer.places)
            for unit in place
        )
        return Passages(tuple(passages), "Answers")

    def _answer(self, unit: Any, label: str) -> Passage:
        where, found = self.places.of_unit(unit), self._rank(unit)
        note = f"not in {plural(len(self.hits), 'result')}" if found is None else f"first found at rank {found}"
        if not isinstance(unit, CharacterSpan):
            return Passage((), where, label, note)
        if self.corpus is None or unit.doc_id not in self.corpus:
            is_read = found is not None and found <= self.reached
            return Passage((Part(unit.text, "found" if is_read else "missed"),), where, label, note)
        content = self.corpus[unit.doc_id].content
        begin, end = max(unit.start - _AROUND, 0), unit.end + _AROUND
        before, after = content[begin : unit.start], content[unit.end : end]
        parts = [
            Part(f"… {before.partition(' ')[2]}" if begin else before, "muted"),
            *self._truth(unit, content),
            Part(f"{after.rpartition(' ')[0]} …" if end < len(content) else after, "muted"),
        ]
        return Passage(tuple(parts), where, label, note)

    def _truth(self, unit: CharacterSpan, content: str) -> Iterator[Part]:
        """Yield the text of a span: what was read at the first cutoff, and what was missed."""
        at = unit.start
        read = [hit.span for hit in self.read if hit.span is not None and hit.span.overlaps(unit)]
        for span in merge_overlapping_spans(read):
            start, end = max(span.start, unit.start), min(span.end, unit.end)
            yield Part(content[at:start], "missed")
            yield Part(content[start:end], "found")
            at = end
        yield Part(content[at : unit.end], "missed")

    def _rank(self, unit: Any) -> int | None:
        """Return the rank at which a unit is first found; None if it is not."""
        for rank, hit in enumerate(self.hits, 1):
            got = self.rules.level.read(hit)
            if got is not None and self.rules.found(unit, got):
                return rank
        return None

    def _results(self) -> Passages:
        shown = [(rank, hit, self._relevant(hit)) for rank, hit in enumerate(self.hits, 1)]
        kept = [one for one in shown if one[0] <= min(self.reached, _MOST_RESULTS) or one[2]]
        first = self.result.cutoffs[0]
        return Passages(
            tuple(self._result(*one) for one in kept), f"Results within @{first}, and later ones that hold an answer"
        )

    def _relevant(self, hit: Hit) -> tuple[tuple[int, int], ...]:
        """Return which stretches of a result are relevant; of a relevant unit all of it."""
        units = [unit for answer in self.query.answers for unit in answer.units]
        if self.result.evaluation_type != "token-level":
            got = self.rules.level.read(hit)
            is_relevant = got is not None and any(self.rules.found(unit, got) for unit in units)
            return ((0, len(self._text(hit))),) if is_relevant else ()
        own = hit.span
        if own is None:
            return ()
        inside = [
            CharacterSpan(own.doc_id, max(unit.start, own.start), min(unit.end, own.end))
            for unit in units
            if unit.overlaps(own)
        ]
        return tuple((span.start - own.start, span.end - own.start) for span in merge_overlapping_spans(inside))

    def _text(self, hit: Hit) -> str:
        """Return the text of a result, of a long one the begin; "" if it is not known."""
        span = hit.span
        if span is None:
            return (hit.text or "")[:_LONGEST]
        if self.corpus is None or span.doc_id not in self.corpus:
            return ""
        return self.corpus[span.doc_id].content[span.start : min(span.end, span.start + _LONGEST)]

    def _result(self, rank: int, hit: Hit, relevant: tuple[tuple[int, int], ...]) -> Passage:
        text = self._text(hit)
        inside = [(start, min(end, len(text))) for start, end in relevant if start < len(text)]
        role: Role = "found" if relevant and not text else ""
        notes = ["relevant"] if role else []
        if rank > self.reached:
            notes.append("beyond the first cutoff")
        return Passage(text_of(text, inside), self.places.of_hit(hit), str(rank), ", ".join(notes))
