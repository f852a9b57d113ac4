"""Losses of a run and of its questions: the causes, result by result, and marked in the documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...analysis.attribution.attribution import NEARLY, Advice, Attribution, Change
from ...analysis.attribution.explaining import ExplainedAnswer, Explanation, Neighbour, RankedResult
from ...analysis.attribution.losses import Bound, Cause
from ...base.outside import first_of, name_line
from ...data import CharacterSpan, Corpus, Hit, merge_overlapping_spans
from ...data.cutoffs import OWN_CUTOFF, Cutoff
from ...data.hits import RankedHits
from ...runs import EvaluationResult, QueryResult
from ...runs.query_result import own_cutoff
from ...runs.shown import number
from ...scoring.levels.rules import RULES
from ...text.reading import ContextBudget, HitReader
from ...text.text_locator import LinePlaces
from ...text.tokenizers import resolve_tokenizer
from ..page import Bar, Line, Lines, Part, Passage, Passages, Role, Table, line, muted, plural, within
from ..page import Page as Page
from .result import note_lines

_MOST_RESULTS = 10  # that hold nothing relevant, or were not read
_MOST_BEFORE = 3


def explanation_page(known: Explanation) -> Page:
    """Return an explanation as people read it: its recall, the results, the answers, and what changed to a baseline."""
    return Page(known.text or "–", tuple(_Explained(known).blocks()), aside=f"({known.query_id})")


def explanations_page(run: str, known: Sequence[Explanation]) -> Page:
    """Return the explanations of several questions of a run below each other; notes of all of them come first, once."""
    first = known[0].notes if len(known) > 1 else ()
    shared = [note for note in first if all(note in one.notes for one in known)]
    others = (replace(one, notes=tuple(note for note in one.notes if note not in shared)) for one in known)
    return Page(run, (Lines(note_lines(shared)), *map(explanation_page, others)))


def text_of(text: str, relevant: Sequence[tuple[int, int]]) -> tuple[Part, ...]:
    """Return a text that was read, in parts: what is relevant of it, and the rest."""
    parts: list[Part] = []
    at = 0
    for start, end in relevant:
        parts += [Part(text[at:start], "read"), Part(text[start:end], "found")]
        at = end
    return (*parts, Part(text[at:], "read"))


class Places:
    """Names the places of results and answers for people: `file:line:column`, else an id."""

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
        yield Lines(tuple(self._answers()), "Answers")
        yield Passages(tuple(passage for answer in known.answers for passage in self._missed(answer)), "Missed")
        yield from self._results()
        yield Lines(tuple(self._gone()), "Read in the baseline only")

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
        was, notes = result.was, ["cut by the budget"] if result.read == "part" else []
        if self.known.knows_ranks:
            notes.append("new" if was is None else "as before" if was == result.rank else f"was {was}")
        parts = text_of(result.text, result.relevant)
        return Passage(parts, self.places.of_hit(result.hit), str(result.rank), ", ".join(notes))

    def _gone(self) -> Iterator[Line]:
        for hit, was, rank in self.known.gone[:_MOST_RESULTS]:
            now = "not among the results" if rank is None else f"now {rank}"
            yield line((self.places.of_hit(hit), "place"), (f", was {was}, {now}", "muted"), indent=4)
        if (more := len(self.known.gone) - _MOST_RESULTS) > 0:
            yield line((f"and {more} more", "muted"), indent=4)

    def _answers(self) -> Iterator[Line]:
        known = self.known
        if not known.answers:
            failed = "its retrieval failed, so nothing was found"
            none = "nothing in the documents answers it, so nothing could be found"
            yield line(failed if known.status == "failed" else none, indent=2)
        for answer in known.answers:
            yield from self._answer(answer)

    def _answer(self, answer: ExplainedAnswer) -> Iterator[Line]:
        places = [self.places.of_unit(place[0]) for place in answer.answer.places]
        others = f" or {plural(len(places) - 1, 'other place')}" if len(places) > 1 else ""
        yield line((places[0], "place"), f"{others}: {answer.recall:.0%} found{self._found_at(answer)}", indent=2)
        for cause in answer.causes:
            words = told(cause, self.known.depth, self.known.returned)
            yield line(f"{answer.lost[cause]:.0%} {words}{self._at(cause, answer)}", indent=4)
        flags = {
            "split by the chunker: no chunk holds it whole": answer.is_split,
            "truncated by the embedder: what is missing is behind what it reads of the chunk": answer.is_truncated,
            "cut off by the budget: what is missing is behind what it reads of the chunk": answer.is_cut_off,
        }
        yield from (line(text, indent=4) for text, is_so in flags.items() if is_so)

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
        behind = (
            f", behind {first_of([*map(self.places.of_hit, answer.before)], _MOST_BEFORE)}" if answer.before else ""
        )
        return f": rank {answer.rank}{f' ({first})' if first else ''}{behind}"

    def _missed(self, answer: ExplainedAnswer) -> Iterator[Passage]:
        corpus = self.known.corpus
        for missed in answer.missed:
            span, around = missed.span, max(len(missed.before), len(missed.after))
            marked = (Part(span.text or "(its text is not in the corpus)", "missed"),)
            content = corpus[span.doc_id].content if corpus is not None and span.doc_id in corpus else ""
            chunks = ", ".join(map(self._neighbour, missed.neighbours))
            yield Passage(
                within(content, span.start, span.end, around, marked) if content else marked,
                self.places.of_unit(span),
                note=f"chunks: {chunks}" if chunks else "",
            )

    def _neighbour(self, near: Neighbour) -> str:
        first = "not retrieved" if near.first_rank is None else f"rank {near.first_rank} before reranking"
        rank = first if near.rank is None else f"rank {near.rank}"
        return f"{self.places.of_unit(near.place)}{' holding it' if near.holds else ''} {rank}"


_WORST = 5
_TOLD: Mapping[Cause, str] = {
    "not_in_corpus": "not in the corpus",
    "in_no_chunk": "in no chunk",
    "not_retrieved": "not among the first {depth}",
    "not_asked_for": "not among the results asked for",
    "not_a_candidate": "retrieved, but not among the reranker's candidates",
    "beyond_cutoff": "retrieved, but beyond the cutoff",
    "dropped_by_reranker": "within it before reranking, dropped by the reranker",
    "not_placed": "retrieved as text that has no place",
}

_ADVICE: Mapping[Change, str] = {
    "labels": "is not in the corpus: add documents that hold it, or correct the labels",
    "chunker": "is in no chunk: try a chunker that leaves nothing out",
    "places": "was retrieved as text that has no place: return its doc_id, start and end",
    "retriever": "is not among the first {depth}, and nothing else explains it: try another retriever",
    "returned": "is not among the {depth} results that the retriever returned, and more were asked for: make it return "
    "more, and see whether they hold it",
    "deeper_ranking": "is not among the results asked for: whether the retriever, the chunker or a reranker lost it, "
    "only a deeper ranking tells",
    "reranker": "was dropped by the reranker, beyond what it won: try without it",
    "order": "is ranked beyond the cutoff, and nothing else explains it: try a reranker, or a better one",
    "candidates": "is not among the reranker's candidates, and nothing else explains it: try more candidates",
    "larger_chunks": "belongs to answers that no chunk holds whole: try larger chunks",
    "smaller_chunks": "is behind what the budget reads of a chunk: try smaller chunks, or a larger budget",
    "embedder": "is behind what the embedder reads of a chunk: try an embedder that reads chunks whole",
}


_FLAGS = {"split": "split by the chunker", "truncated": "truncated by the embedder", "cut_off": "cut off by the budget"}
"""Remarks on what was lost, by their names among the losses."""


def advice_text(advice: Advice) -> str:
    """Return the share of what is missing, its cause, and what to change."""
    asks = ", as --deep (deep=True) asks for" if advice.change == "deeper_ranking" and advice.deep_asks else ""
    return f"{advice.share:.0%} of what is missing {_ADVICE[advice.change].format(depth=advice.depth)}{asks}"


def told(cause: Cause, depth: int | None, returned: int | None = None) -> str:
    """Return a cause as people read it.

    Args:
        cause: The cause.
        depth: How many results were asked for again; None if nothing was, and the run's own results had to do.
        returned: How many came, where the retriever has a number of its own.
    """
    if cause == "not_retrieved" and returned is not None:
        return f"not retrieved: the retriever returned {returned} of the {depth} results asked for"
    return _TOLD[cause].format(depth=depth)


def causes_page(known: Attribution, worst: int = _WORST) -> Page:
    """Return where a run lost what was relevant, what to change first, and the questions that lost most.

    Args:
        known: What was lost.
        worst: How many of the questions that lost most to name.
    """
    losses, missing = known.losses, 1 - known.recall
    rows = [
        (told(cause, known.depth, known.returned), losses.lost[cause], lost)
        for cause, lost in known.lost.items()
        if lost > NEARLY
    ]
    flags = [(f"of it: {name}", getattr(losses, flag)) for flag, name in _FLAGS.items()]
    rows += [(name, column, float(column.mean())) for name, column in flags if column.any()]
    cells = tuple(
        (name, number(lost), f"{lost / missing:.0%}", str(int((column > NEARLY).sum()))) for name, column, lost in rows
    )
    return Page(
        f"Where {known.run} lost {known.score}",
        (
            Lines(tuple(_verdict(known))),
            Lines(note_lines(known.notes), "Notes"),
            Table(
                ("cause", "lost", "of it", "questions"),
                cells or (("nothing", number(0.0), "–", "0"),),
                "What was lost",
                bars=tuple(Bar(lost) for *_, lost in rows),
                scale=(0.0, 1.0),
            ),
            Lines(tuple(_question(known, row) for row in known.worst(worst)), "Questions that lost most"),
        ),
    )


def _verdict(known: Attribution) -> Iterator[Line]:
    missing = number(1 - known.recall)
    yield line((f"mean {number(known.recall)} of {len(known.query_ids)} questions, so {missing} is missing", "verdict"))
    found = known.advice
    if found is not None:
        yield line(("What to change first: ", "label"), found.text)
    yield line((known.headline, "muted"))
    yield from (line((told_of, "muted")) for told_of in _ceilings(known))


def _question(known: Attribution, row: int) -> Line:
    """Return a question behind its recall, and why it lost what it lost."""
    rank, recall = int(known.losses.best_rank[row]), number(float(known.losses.recall[row]))
    ranked = ("beyond_cutoff", "dropped_by_reranker") if rank else ()
    at: dict[str, str] = dict.fromkeys(ranked, f", rank {rank}")
    reasons = [
        f"{lost:.0%} {told(cause, known.depth, known.returned)}{at.get(cause, '')}"
        for cause, lost in known.causes(row).items()
    ]
    reasons += [name for flag, name in _FLAGS.items() if getattr(known.losses, flag)[row] > NEARLY]
    asked, query_id = known.questions[row] or "–", known.query_ids[row]
    return line(asked, f" ({'; '.join(reasons)})", (f" ({query_id})", "muted"), indent=7, before=recall, role="bad")


def _ceilings(known: Attribution) -> Iterator[str]:
    chunking, candidates, without = known.losses.chunking, known.losses.candidates, known.losses.without_reranker
    deepest = f"the first {known.returned or known.depth}{'' if known.losses.asked.all() else ', where they are known'}"
    what = "the candidates" if without is not None else "what was asked for" if known.depth is None else deepest
    best = [] if chunking is None else [f"{_best(chunking)} with these chunks"]
    yield f"the best possible: {', '.join([*best, f'{_best(candidates)} with the best order of {what}'])}"
    if without is not None and known.losses.asked.all():
        yield f"without the reranker: {number(float(without.mean()))}"


def _best(bound: Bound) -> str:
    """Return the mean of the best possible as people read it."""
    return f"{'' if bound.exact.all() else 'at most '}{number(float(bound.recall.mean()))}"


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
    notes = {
        which: bool(which),
        f"The documents are not shown: {why}": corpus is None and bool(why),
        "What was retrieved is not known: this is a report alone.": result.queries.found is None,
    }
    pages: list[Page] = []
    for query_id in query_ids:
        query: QueryResult[Any] = result.queries[result.scores.rows[query_id]]
        score = query.scores.get(result.score_names[0])
        told = query.status if score is None else f"{result.score_names[0]} {number(score)}"
        blocks = tuple(_Question(result, query, corpus).blocks())
        anchor = anchor_of(result, query_id)
        pages.append(Page(query.text or "–", blocks, anchor, f"{told} ({query_id})", folded=True))
    return Page("Questions", (muted((note for note, is_so in notes.items() if is_so), indent=0), *pages), "questions")


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
            first = own_cutoff(self.result, self.query.query_id)
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
        parts = within(content, unit.start, unit.end, _AROUND, self._truth(unit, content))
        return Passage(parts, where, label, note)

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
