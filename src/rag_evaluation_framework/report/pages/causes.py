"""Where a run lost what was relevant, as people read it: what to change first, the causes, and the questions."""

from collections.abc import Iterator, Mapping

from rag_evaluation_framework.attribution.attribution import NEARLY, Advice, Attribution, Change
from rag_evaluation_framework.attribution.losses import Bound, Cause
from rag_evaluation_framework.report.page import Bar, Line, Lines, Table, line
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.pages.result import note_lines
from rag_evaluation_framework.results.shown import number

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
    "deeper_ranking": "is not among the results asked for: whether the retriever, the chunker or a reranker lost it, "
    "only a deeper ranking tells",
    "reranker": "was dropped by the reranker, beyond what it won: try without it",
    "order": "is ranked beyond the cutoff, and nothing else explains it: try a reranker, or a better one",
    "candidates": "is not among the reranker's candidates, and nothing else explains it: try more candidates",
    "larger_chunks": "belongs to answers that no chunk holds whole: try larger chunks",
    "smaller_chunks": "is behind what the budget reads of a chunk: try smaller chunks, or a larger budget",
    "embedder": "is behind what the embedder reads of a chunk: try an embedder that reads chunks whole",
}


def advice_text(advice: Advice) -> str:
    """Return the share of what is missing, its cause, and what to change."""
    asks = ", as --deep (deep=True) asks for" if advice.change == "deeper_ranking" and advice.deep_asks else ""
    return f"{advice.share:.0%} of what is missing {_ADVICE[advice.change].format(depth=advice.depth)}{asks}"


def told(cause: Cause, depth: int | None) -> str:
    """Return a cause as people read it.

    Args:
        cause: The cause.
        depth: How many results were asked for again; None if nothing was, and the run's own results had to do.
    """
    return _TOLD[cause].format(depth=depth)


def causes_page(known: Attribution, worst: int = _WORST) -> Page:
    """Return where a run lost what was relevant, what to change first, and the questions that lost most.

    Args:
        known: What was lost.
        worst: How many of the questions that lost most to name.
    """
    losses, missing = known.losses, 1 - known.recall
    rows = [(told(cause, known.depth), losses.lost[cause], lost) for cause, lost in known.lost.items() if lost > NEARLY]
    flags = [
        ("of it: split by the chunker", losses.split),
        ("of it: truncated by the embedder", losses.truncated),
        ("of it: cut off by the budget", losses.cut_off),
    ]
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
    recall = number(float(known.losses.recall[row]))
    asked = known.questions[row] or "–"
    return line(
        asked, (f" ({_why(known, row)})"), (f" ({known.query_ids[row]})", "muted"), indent=7, before=recall, role="bad"
    )


def _why(known: Attribution, row: int) -> str:
    """Return why a question lost what it lost, in a few words."""
    rank = int(known.losses.best_rank[row])
    ranked = ("beyond_cutoff", "dropped_by_reranker") if rank else ()
    at: dict[str, str] = dict.fromkeys(ranked, f", rank {rank}")
    reasons = [f"{lost:.0%} {told(cause, known.depth)}{at.get(cause, '')}" for cause, lost in known.causes(row).items()]
    flags = (
        ("split by the chunker", known.losses.split),
        ("truncated by the embedder", known.losses.truncated),
        ("cut off by the budget", known.losses.cut_off),
    )
    return "; ".join([*reasons, *(name for name, column in flags if column[row] > NEARLY)])


def _ceilings(known: Attribution) -> Iterator[str]:
    chunking, candidates, without = known.losses.chunking, known.losses.candidates, known.losses.without_reranker
    deepest = f"the first {known.depth}{'' if known.losses.asked.all() else ', where they are known'}"
    what = "the candidates" if without is not None else "what was asked for" if known.depth is None else deepest
    best = [] if chunking is None else [f"{_best(chunking)} with these chunks"]
    yield f"the best possible: {', '.join([*best, f'{_best(candidates)} with the best order of {what}'])}"
    if without is not None and known.losses.asked.all():
        yield f"without the reranker: {number(float(without.mean()))}"


def _best(bound: Bound) -> str:
    """Return the mean of the best possible as people read it."""
    return f"{'' if bound.exact.all() else 'at most '}{number(float(bound.recall.mean()))}"
