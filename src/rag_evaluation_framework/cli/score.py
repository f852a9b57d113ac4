"""`rag-eval score`: the classical metrics for rankings that are already in files."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import rag_evaluation_framework as rag
from rag_evaluation_framework import rankings as rank_files
from rag_evaluation_framework import report
from rag_evaluation_framework._outside import name_line, one_line, shown
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework.cli import paths, run_options
from rag_evaluation_framework.cli.output import print_json, print_text, stdout
from rag_evaluation_framework.errors import DatasetError

if TYPE_CHECKING:
    from rag_evaluation_framework.data import ScoreTable

_LONGEST_NAME, _LONGEST_QUESTION = 24, 40
_EDGES, _GAP = 2, 3  # characters that a table adds around all columns, and between two
_COUNTS = {
    "questions": "in the qrels; means are over those with a score",
    "no_answer": "questions to which nothing is relevant; they have no score",
    "queries_not_ranked": "questions without a ranking; they score 0.0 if anything is relevant",
    "queries_not_judged": "questions that are not in the qrels; not scored",
    "ties_or_duplicates": "rankings with tied or unsorted scores; ties keep the order of the file",
    "repeated": "documents listed more than once in a ranking; the best score counts",
    "contradicted": "questions whose rank column contradicts this order; --order given follows it",
}

Scored: TypeAlias = "tuple[Path, ScoreTable, dict[str, int]]"


def score(
    qrels: Annotated[
        Path, typer.Option(parser=paths.path, help="What is relevant: TREC qrels, BEIR's table, JSON or JSONL.")
    ],
    rankings: Annotated[
        list[Path],
        typer.Option(
            parser=paths.path, help="Rankings: a TREC run file, a table with a header, JSON or JSONL; repeatable."
        ),
    ],
    order: run_options.Order = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="For example ndcg@10, or nDCG@10 as ir_measures spells it; repeatable.")
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also show the scores of every question.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Score rankings stored in files, several files side by side.

    By default hit@10, recall@10, mrr@10 and ndcg@10. Files may be compressed with gzip.
    """
    judged = rank_files.RankFile.of_qrels(qrels)
    scored = [_scored(qrels, judged, path, order, metric) for path in rankings]
    if as_json:
        print_json(_as_json(qrels, judged, scored, per_query))
        return
    console = stdout()
    counts = _qrels_counts(judged)
    again = f", {counts['repeated']} repeated" if counts["repeated"] else ""
    title = f"{qrels.name}: {counts['judgements']} judgement{'s' * (counts['judgements'] != 1)}{again}"
    console.print(Text(one_line(title), style="bold"))
    _show(console, scored)
    if per_query:
        _show_questions(console, scored)


def _scored(qrels: Path, judged: rank_files.RankFile, path: Path, order: Any, metric: list[str] | None) -> Scored:
    ranked = rank_files.RankFile.of_rankings(path, order)
    ranked.check_ids(path)
    truths, found = judged.by_query, ranked.by_query
    with collected() as notes:
        scores = rag.score_rankings(truths, found, metric) if metric else rag.score_rankings(truths, found)
    common = [query for query in truths if query in found]
    if not common:
        raise DatasetError(
            f"{path}: none of its questions is in {qrels}, so nothing can be scored. Ids in the rankings: "
            f"{_some(found)}; in the qrels: {_some(truths)}. Write them the same way in both files"
        )
    if not any(grade > 0 for query in common for grade in truths[query].values()):
        raise DatasetError(
            f"{path}: none of its questions in {qrels} has a relevant document (questions: {len(common)}), so "
            "nothing can be scored; expected grades above 0"
        )
    for said in notes:
        rag.note(f"{path}: {said}")
    counts = {name: number for name, number in scores.counts.items() if name != "queries"}
    in_file = {"repeated": ranked.repeated, "contradicted": ranked.contradicted}
    return path, scores, {"questions": len(truths), **counts, **in_file}


def _some(ids: dict[str, Any]) -> str:
    some = ", ".join(shown(name, 60) for name in list(ids)[:3])
    return f"{some or 'none'}{', …' if len(ids) > 3 else ''}"


def _as_json(qrels: Path, judged: rank_files.RankFile, scored: list[Scored], per_query: bool) -> dict[str, Any]:
    return {
        "qrels": {"path": _path_text(qrels), "counts": _qrels_counts(judged)},
        "rankings": [
            {
                "path": _path_text(path),
                "metrics": scores.mean,
                "counts": counts,
                **({"per_query": {name: scores.per_query(name) for name in scores.columns}} if per_query else {}),
            }
            for path, scores, counts in scored
        ],
    }


def _path_text(path: Path) -> str:
    """Return a path as text that UTF-8 can encode, with escapes for what it cannot."""
    return str(path).encode(errors="backslashreplace").decode()


def _qrels_counts(judged: rank_files.RankFile) -> dict[str, int]:
    judgements = sum(map(len, judged.by_query.values()))
    return {"questions": len(judged.by_query), "judgements": judgements, "repeated": judged.repeated}


def _show(console: Console, scored: list[Scored]) -> None:
    """Print one column per file, as many side by side as fit: the means, the best in green, and the counts."""
    names = list(scored[0][1].columns)
    counted = [name for name in _COUNTS if any(counts[name] for _, _, counts in scored)]
    means = [report.best_in_green([scores.mean[name] for _, scores, _ in scored], _number) for name in names]
    counts = [[Text(str(counts[name]), style="dim") for _, _, counts in scored] for name in counted]
    rows = [
        *(Text(name_line(name)) for name in names),
        *(Text(name.replace("_", " "), style="dim") for name in counted),
    ]
    room = console.width - max(row.cell_len for row in rows) - _EDGES - _GAP
    headers = map(Text, _headers([_name(path, scored) for path, _, _ in scored], room))
    columns = map(report.Column, headers, zip(*means, *counts, strict=True))
    report.show_table(console, [report.Column(Text(), rows)], list(columns), section=len(names))
    for name in counted:
        console.print(Text(f"{name.replace('_', ' '):<18}  {_COUNTS[name]}", style="dim"))


def _headers(names: list[str], room: int) -> list[str]:
    """Return names that fit a column and tell the files apart, numbered where nothing else does."""
    if sum(cell_len(name) + _GAP for name in names) - _GAP <= room:
        return names
    for longest in range(_LONGEST_NAME, room + 1):
        short = [_shortened(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return [f"{number} {_shortened(name, _LONGEST_NAME)}" for number, name in enumerate(names, 1)]


def _shortened(name: str, longest: int) -> str:
    """Return the end of a name, which says more than its beginning."""
    if cell_len(name) <= longest:
        return name
    while cell_len(name) >= longest:
        name = name[1:]
    return f"…{name}"


def _name(path: Path, scored: list[Scored]) -> str:
    """Return the name of a rankings file, or its whole path if another file has the same name."""
    same = sum(path.name == other.name for other, _, _ in scored)
    return name_line(path.name if same == 1 else str(path))


def _show_questions(console: Console, scored: list[Scored]) -> None:
    """Print one line per question. Scores come first, so that long ids need no padding."""
    for path, scores, _ in scored:
        print_text(f"\n{_name(path, scored)}")
        queries = [name_line(query_id) for query_id in scores.query_ids]
        longest = min(max(map(cell_len, ("question", *queries))), _LONGEST_QUESTION)
        widths = {name: max(len(name), 6) for name in scores.columns}
        for part in report.side_by_side([*widths.values()], console.width - longest - 2, gap=2):
            names = list(widths)[part]
            columns = [map(_number, scores.per_query(name).values()) for name in names]
            if part.start:
                print_text("")
            print_text("  ".join(f"{name:>{widths[name]}}" for name in names) + "  question")
            for query, *values in zip(queries, *columns, strict=True):
                cells = (f"{value:>{widths[name]}}" for value, name in zip(values, names, strict=True))
                print_text(f"{'  '.join(cells)}  {query}")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
