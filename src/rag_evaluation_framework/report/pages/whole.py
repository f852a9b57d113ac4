"""Saved runs as one page: a run with its questions, two runs compared, or more of them in a table."""

from collections.abc import Sequence
from dataclasses import replace

from ...analysis import Comparison, Leaderboard
from ...analysis.attribution.deep_pass import corpus_of
from ...errors import RagEvalError
from ..blocks import Line, Lines, Page, plural
from .comparison import comparison_page
from .explanation import anchor_of, questions_page
from .leaderboard import leaderboard_page
from .result import Result, result_page


def whole_page(runs: Sequence[Result], most: int) -> Page:
    """Return what people read of one run, of two that are compared, or of several.

    Args:
        runs: The runs; of several, the first is the baseline.
        most: How many questions to show with their passages: the weakest of a run, or those that got worse; 50
            with ten results each are about half a megabyte.
    """
    if len(runs) > 2:
        return leaderboard_page(Leaderboard.of(runs), worst=most, runs=runs)
    corpus, why = None, ""
    try:
        corpus = corpus_of(runs[-1])
    except RagEvalError as error:  # the page says why they are not shown
        why = str(error)
    if len(runs) == 1:
        (result,) = runs
        weakest = [query.query_id for query in result.worst(len(result.queries))]
        every = [*dict.fromkeys([*weakest, *result.scores.query_ids])]  # those that were not scored last
        which = _some(most, len(every), ", the weakest first")
        page = result_page(result, worst=min(most, 10))
        asked = questions_page(result, every[:most], corpus, why, which)
        return _linked(replace(page, blocks=(*page.blocks, asked)), result)
    before, after = runs
    compared = Comparison.of(before, after)
    page = comparison_page(compared, (before, after), worst=most)
    lost = [one for one in compared.regressions(next(iter(compared.deltas))) if one in after.scores.rows]
    which = _some(most, len(lost), " that got worse") or "Those that got worse, in the second run"
    more = (questions_page(after, lost[:most], corpus, why, which),) if lost else ()
    return _linked(replace(page, blocks=(*page.blocks, *more)), after)


def _some(most: int, count: int, which: str) -> str:
    return f"{most:,} of {plural(count, 'question')}{which}; --worst shows more" if most < count else ""


def _linked(page: Page, result: Result) -> Page:
    """Return a page on which the ids of questions lead to them, where they are shown."""
    pages = [block for block in page.blocks if isinstance(block, Page)]
    shown = {block.anchor for one in pages for block in one.blocks if isinstance(block, Page)}
    anchors = {query_id: anchor_of(result, query_id) for query_id in result.scores.rows}
    links = {f" ({query_id})": anchor for query_id, anchor in anchors.items() if anchor in shown}

    def linked(one: Line) -> Line:
        return replace(one, parts=tuple(replace(part, link=links.get(part.text, "")) for part in one.parts))

    blocks = (
        replace(block, lines=tuple(map(linked, block.lines))) if isinstance(block, Lines) else block
        for block in page.blocks
    )
    return replace(page, blocks=tuple(blocks))
