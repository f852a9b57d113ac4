"""A result in a few lines, as text, Markdown and HTML, all from the same table."""

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_evaluation_framework.experiments.results import EvaluationResult

_WORST = 5


def number(value: float | None) -> str:
    """Return a score with three decimals, or a dash if there is none."""
    return "–" if value is None else f"{value:.3f}"


def table(result: "EvaluationResult[Any]") -> list[list[str]]:
    """Return the means as rows of cells: a header, then one row a metric and one column a cutoff."""
    header = ["", *(f"@{cutoff}" for cutoff in result.cutoffs)]
    rows = [
        [metric, *(number(result.metrics[f"{metric}@{cutoff}"]) for cutoff in result.cutoffs)]
        for metric in result.metric_names
    ]
    return [header, *rows]


def headline(result: "EvaluationResult[Any]") -> str:
    """Return how many questions stand behind the means."""
    counts = result.counts
    parts = [f"{counts['scored']} scored"]
    if counts["no_answer"]:
        parts.append(f"{counts['no_answer']} without an answer")
    if counts["failed"]:
        parts.append(f"{counts['failed']} failed")
    if result.count_as_zero:
        parts.append(f"counting as 0: {', '.join(result.count_as_zero)}")
    return f"{result.config['dataset']['name']}, {counts['questions']} questions ({', '.join(parts)}), {result.evaluation_type}"


def notes(result: "EvaluationResult[Any]") -> list[str]:
    """Return what a reader must know beside the means: failures, hits without a place, warnings."""
    found: list[str] = []
    for query_id, failures in list(result.failures.items())[:_WORST]:
        found += [f"{query_id}: {failure.stage}: {failure.kind}: {failure.message}" for failure in failures[:1]]
    if len(result.failures) > _WORST:
        found.append(f"… and failures of {len(result.failures) - _WORST} more questions")
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    if unlocated:
        found.append(
            f"{unlocated} of {hits} results ({unlocated / hits:.0%}) have no place in the corpus and cover nothing"
        )
    return found + list(result.warnings)


def as_text(result: "EvaluationResult[Any]") -> str:
    """Return the result for a terminal."""
    rows = table(result)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        row[0].ljust(widths[0])
        + "".join(f"  {cell.rjust(width)}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    return "\n".join([result.name, headline(result), *lines, *(f"! {note}" for note in notes(result))])


def as_html(result: "EvaluationResult[Any]") -> str:
    """Return the result for a notebook; everything that comes from outside is escaped."""
    header, *rows = table(result)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    more = "".join(f"<li>{escape(note)}</li>" for note in notes(result))
    return (
        f"<div><strong>{escape(result.name)}</strong><br>{escape(headline(result))}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{f'<ul>{more}</ul>' if more else ''}</div>"
    )


def as_markdown(result: "EvaluationResult[Any]") -> str:
    """Return the result as a Markdown page, the weakest questions included."""
    header, *rows = table(result)
    lines = [
        f"# {_plain(result.name)}",
        "",
        f"{_plain(headline(result))}. Run of {result.created}, version {result.version}.",
        "",
        f"| {' | '.join(header)} |",
        f"|---|{'---:|' * (len(header) - 1)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    if notes(result):
        lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in notes(result))]
    name = result.score_names[0]
    lines += ["", f"## Weakest questions by {name}", "", f"| {name} | id | question |", "|---:|---|---|"]
    lines += [
        f"| {number(query.scores.get(name))} | {_plain(query.query_id)} | {_plain(query.text)} |"
        for query in result.worst(_WORST)
    ]
    lines += ["", "## Run", "", *(f"- {key}: {seconds:.3f} s" for key, seconds in result.timings.items())]
    corpus, dataset = result.config["corpus"], result.config["dataset"]
    lines += [
        f"- corpus: {_plain(str(corpus['source']))}, {corpus['documents']} documents, sha256 {corpus['hash'][:12]}",
        f"- dataset: {_plain(dataset['name'])}, sha256 {dataset['hash'][:12]}",
        f"- tokenizer: {result.config['tokenizer'] or 'none (budgets in characters)'}",
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in r"\`*_[]<>|#" else character for character in line)
