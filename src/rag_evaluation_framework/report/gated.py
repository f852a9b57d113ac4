"""Files of a gated run: its summary, and the comparison with its baseline."""

from dataclasses import replace

from ..base.outside import json_text
from ..contracts.roles import Outcome
from ..runs import store
from .blocks import Lines
from .pages.comparison import comparison_page
from .pages.gates import gate_block, verdict_line


def texts_beside(outcome: Outcome) -> dict[str, str]:
    """Return the texts of a run's folder beside its report, by the names of their files.

    These are its summary and, with a baseline, how the run differs from it.
    """
    texts = {store.SUMMARY: summary_text(outcome)}
    if (compared := outcome.comparison) is not None:
        result, page = outcome.result, comparison_page(compared, outcome.both, gated=True)
        verdicts = Lines(tuple(verdict_line(result.gates))), gate_block(result.gates)
        texts["diff.json"] = json_text(compared.record(outcome.both), indent=1)
        texts["diff.md"] = replace(page, blocks=(*verdicts, *page.blocks)).as_markdown()
    return texts


def summary_text(outcome: Outcome) -> str:
    """Return a run as people read it first, in Markdown."""
    text, compared = outcome.result.summary().as_markdown(), outcome.comparison
    # The page above it has the gates.
    page = None if compared is None else comparison_page(compared, outcome.both, gated=True)
    return text if page is None else f"{text}\n{page.as_markdown(2)}"
