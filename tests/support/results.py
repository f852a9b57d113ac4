"""What results say, to be compared."""

import json
from dataclasses import replace

from rag_evaluation_framework.runs.query_result import question_lines


def without_clocks(result):
    """The result without anything that a clock said."""
    stages = {name: seconds * 0 for name, seconds in result.queries.stages.items()}
    queries = replace(result.queries, stages=stages)
    timings = dict.fromkeys(result.timings, 0.0)
    return replace(result, queries=queries, timings=timings, created="2026-01-02T03:04:05+00:00")


def saved_rows(folder):
    """The questions in the report of a run."""
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))["queries"]


def told(result):
    """All that a result says, as text, but for times and how often was asked."""
    config = {
        key: value
        for key, value in result.config.items()
        if key not in ("calls", "latency", "max_concurrency", "depth", "hash")
    }
    queries = replace(result.queries, stages={})
    return repr(
        (result.name, result.metrics, result.notes, config, [*question_lines(queries)], [*queries.hits], result.hits)
    )
