"""The page for a pull request: which gates did not pass, by which questions, and how the scores changed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rag_evaluation_framework.analysis.comparison import Comparison
from rag_evaluation_framework.data.score_table import full_name
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.gates.measuring import found_score
from rag_evaluation_framework.gates.uncounted import not_compared_by_reason, why_no_score
from rag_evaluation_framework.report.summaries import difference
from rag_evaluation_framework.results.gate_verdict import GateVerdict, gate_rows, told_gates
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.summary import Summary, SummaryTable

_MOST_LISTED = 100  # per gate; a step summary has at most 1 MiB


def gated_difference(compared: Comparison, before: EvaluationResult[Any], after: EvaluationResult[Any]) -> Summary:
    """Return a comparison with what became of gates, and the questions because of which some did not pass.

    If there are none of these, it names the questions that got worse by the first score.

    Args:
        compared: The comparison.
        before: The baseline.
        after: The candidate, with its gates.
    """
    causes = tuple(_causes(compared, before, after))
    page = difference(compared, before, after, worst=0 if causes else _MOST_LISTED)
    counted = told_gates(after.gates)
    return replace(
        page,
        headline=(*([counted] if counted else []), *page.headline),
        gates=gate_rows(after.gates),
        causes=causes,
    )


def _causes(
    compared: Comparison, before: EvaluationResult[Any], after: EvaluationResult[Any]
) -> Iterator[SummaryTable]:
    """Yield a table of questions for each gate that did not pass; gates with the same questions share one."""
    tables: dict[tuple[str, tuple[str, ...]], list[GateVerdict]] = {}
    for verdict in after.gates:
        if verdict.queries and verdict.verdict != "passed":
            tables.setdefault((_score(Gate.parse(verdict.gate), compared, after), verdict.queries), []).append(verdict)
    wordings: dict[str, str] = dict(zip(before.scores.query_ids, before.queries.texts, strict=False))
    wordings |= compared.questions
    wordings |= {label.query.id: label.query.text for label in after.skipped}
    wordings |= dict(zip(after.scores.query_ids, after.queries.texts, strict=False))
    others = not_compared_by_reason(compared, before.scores)
    reasons = {query_id: reason for reason, ids in others.items() for query_id in ids}
    for (score, queries), blocking in tables.items():
        some = f", the first {_MOST_LISTED} of {len(queries)}" if len(queries) > _MOST_LISTED else ""
        deltas = compared.deltas.get(score, {})
        scores = after.scores.per_query(score) if score in after.scores.columns else {}
        alone = {query_id: value for query_id, value in scores.items() if query_id not in deltas}
        first = queries[:_MOST_LISTED]
        why = {query_id: why_no_score(after, query_id) if score else reasons[query_id] for query_id in first}
        yield SummaryTable(
            title=f"Questions behind {', '.join(verdict.gate for verdict in blocking)}{some}",
            lines=("All of them are in report.json.",) if some else (),
            header=("question", "id", f"change of {score}" if score else "why"),
            rows=tuple(
                (wordings.get(query_id) or "–", query_id, _change(deltas.get(query_id), reason, alone.get(query_id)))
                for query_id, reason in why.items()
            ),
        )


def _score(gate: Gate, compared: Comparison, after: EvaluationResult[Any]) -> str:
    columns = compared.change.columns
    found = (
        found_score(gate.name or after.cutoffs[0], columns) if gate.kind == "lost" else full_name(gate.name, columns)
    )
    return found or gate.name


def _change(delta: float | None, why: str, alone: float | None) -> str:
    """Return how the score of a question changed, and why where that is known; of one not compared, its score alone."""
    change = "" if delta is None else f"{delta:+.3f}"
    if alone is not None:
        change = f"not compared, now {alone:.3f}"
    return ", ".join(filter(None, (change, why))) or "–"
