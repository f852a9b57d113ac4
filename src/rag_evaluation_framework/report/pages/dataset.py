"""Datasets and stored rankings as people read them: what they are like, what is wrong with them, what was sent."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import Formatter
from typing import TYPE_CHECKING, Any

from ...base.outside import first_of, name_line, one_line, shown
from ...data.score_table import ScoreTable
from ...datasets.checks import DatasetInfo, DatasetQuality, PublicQuestions, Spread
from ...datasets.checks.findings import Finding, FindingKind, LintReport, Severity, quotation
from ..blocks import Block, Line, Lines, Part, Role, Table, best_cells, line, muted, plural
from ..blocks import Page as Page

if TYPE_CHECKING:
    from ...trackers.langsmith_datasets import PushReport
    from ...trackers.langsmith_publishing import PublishedExperiment

_UNDEFINED = "–"
_MOST_COLUMNS = 10
_MOST_IDS, _MOST_NAMED = 10, 5
_DIGITS = 12  # of a hash
_LONGEST = 500  # characters of metadata


def dataset_page(info: DatasetInfo) -> Page:
    """Return what a dataset is like: its questions, labels, documents, words, and its identity."""
    return Page.of(
        f"{name_line(info.name)} ({info.evaluation_type})",
        Lines(tuple(_verdict(info))),
        _named(_labels(info), 20, "Labelled"),
        _sizes(info),
        _named(_identity(info), 20, "Identity"),
    )


def _named(rows: Iterable[tuple[str, str]], width: int, title: str = "") -> Lines:
    """Return texts below each other, each behind its name in a column of so many characters."""
    return Lines(tuple(line(text, indent=width, before=name, role="muted") for name, text in rows), title)


def _verdict(info: DatasetInfo) -> Iterator[Line]:
    counts = f"{info.answerable:,} with an answer, {info.no_answer:,} without, {info.skipped:,} skipped"
    yield line((f"{plural(info.questions, 'question')}: {counts}", "verdict"))
    if lost := 0 if info.coverage is None else info.coverage.mismatched:
        told = f"{plural(lost, 'label')} {'do' if lost > 1 else 'does'} not match the documents: see dataset lint"
        none = "No label matches the documents: is it the right folder or file (--corpus), and its pattern (glob)?"
        yield line((none if lost == info.labels else told, "warning"))


def _labels(info: DatasetInfo) -> Iterator[tuple[str, str]]:
    yield "labels", f"{info.labels:,}"
    if info.alternatives:
        yield "alternatives", f"{plural(info.alternatives, 'answer')} with several places"
    coverage = info.coverage
    if coverage is None:
        yield "documents", _UNDEFINED
    else:
        of = "" if coverage.of_documents is None else f" of {coverage.of_documents:,}"
        share = "" if coverage.share_of_text is None else f", {100 * coverage.share_of_text:.2f} % of the text"
        yield "documents", f"{coverage.documents:,}{of} labelled{share}"
        counts = coverage.questions_by_document.items()
        yield "most questions", "; ".join(f"{name_line(doc_id)}: {count:,}" for doc_id, count in counts) or _UNDEFINED
    shared = _UNDEFINED
    if (known := info.overlap) is not None:
        shares = f"mean {100 * known.mean:.0f} %, median {100 * known.median:.0f} % of a question's content words"
        shared = f"{shares} stand in its answer; {known.none:,} of {known.questions:,} share none"
    yield "shared words", shared


def _sizes(info: DatasetInfo) -> Table:
    rows: list[tuple[str, ...]] = []
    for name in ("labels per question", "question characters", "answer characters"):
        each = getattr(info, name.replace(" ", "_"))
        numbers = [_UNDEFINED] * 3 if each is None else [f"{n:,.10g}" for n in (each.median, each.p90, each.max)]
        rows.append((name, *numbers))
    return Table(("", "median", "90th percentile", "most"), tuple(rows), "Sizes")


def _identity(info: DatasetInfo) -> Iterator[tuple[str, str]]:
    yield "dataset", info.content_hash[:_DIGITS]
    yield "labelled documents", name_line(info.corpus_hash or _UNDEFINED)[:_DIGITS]
    if info.chunking is not None:
        yield "labelled chunks", name_line(info.chunking)[:_DIGITS]
    if info.metadata:
        known = ", ".join(f"{key}: {shown(value)}" for key, value in info.metadata.items())
        yield "metadata", one_line(known, _LONGEST)
    columns = [f"{name_line(key)} ({count:,})" for key, count in info.metadata_columns.items()]
    more = [f"{len(columns) - _MOST_COLUMNS:,} more"] if len(columns) > _MOST_COLUMNS else []
    yield "metadata columns", ", ".join([*columns[:_MOST_COLUMNS], *more]) or _UNDEFINED


def push_page(pushed: Mapping[str, Any]) -> Page:
    """Return what became of the questions of a dataset in LangSmith.

    Args:
        pushed: The record of a push.
    """
    rows = {name: pushed[name] for name in ("created", "updated", "unchanged", "deleted")}
    rows["only in LangSmith"] = pushed["missing"]
    told = {
        name: f"{len(ids):,}: {first_of([*map(name_line, ids)], _MOST_IDS)}" if ids else "0"
        for name, ids in rows.items()
        if ids or name in ("created", "updated", "unchanged")
    }
    if pushed["left_out"]:
        told["not kept"] = f"{', '.join(pushed['left_out'])}: in the file only"
    title = f"{name_line(pushed['name'])}{' (new)' if pushed['is_new'] else ''}: {pushed['url']}"
    return Page(title, (_named(told.items(), 21),))


_THIS = "yours"


def quality_page(quality: DatasetQuality, public: Sequence[PublicQuestions]) -> Page:
    """Return the figures of a dataset beside those of public questions.

    Args:
        quality: The figures of the dataset.
        public: Public questions and their figures.
    """
    columns = {_THIS: quality, **{known.title: known.quality for known in public}}
    figures = tuple((name, *map(cell, columns.values())) for name, cell in _ROWS)
    told = ("Answers and characters per question: median / 90th percentile",)
    tenths = (
        (title, *([_UNDEFINED] * 10 if one.positions is None else (f"{100 * share:.0f}" for share in one.positions)))
        for title, one in columns.items()
    )
    return Page.of(
        f"{name_line(quality.name)} ({quality.evaluation_type})",
        Lines(tuple(_quality_verdict(quality, columns))),
        Table(("", *columns), figures, "Beside public questions", told),
        Table(("", *map(str, range(1, 11))), tuple(tenths), "Answers in each tenth of their documents, in %"),
        _named(((known.title, f"{known.authors}. {known.source}") for known in public), 13, "Public questions"),
    )


def _quality_verdict(quality: DatasetQuality, columns: dict[str, DatasetQuality]) -> Iterator[Line]:
    found = {title: one.bm25.found_at_1 for title, one in columns.items() if one.bm25 is not None}
    if _THIS in found:
        mine = _percent(found.pop(_THIS))
        others = ", ".join(f"{title} {_percent(share)}" for title, share in found.items())
        yield line((f"BM25 finds the answers of {mine} of the questions at rank 1 ({others})", "verdict"))
    if lost := quality.mismatched:
        labels = f"{plural(lost, 'label')} {'do' if lost > 1 else 'does'} not match the documents"
        asked = "their questions are" if lost > 1 else "its question is"
        yield line((f"{labels}, and {asked} not searched for: see dataset lint", "warning"))
    told = "whether users would ask these questions, nor whether the labels are all that answers them."
    yield line((f"None of this tells {told}", "muted"))


def _percent(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{100 * share:.1f} %"


def _spread(spread: Spread | None) -> str:
    return _UNDEFINED if spread is None else f"{spread.median:,.0f} / {spread.p90:,.0f}"


def _of_bm25(name: str) -> Callable[[DatasetQuality], str]:
    return lambda quality: _percent(None if quality.bm25 is None else getattr(quality.bm25, name))


_ROWS: tuple[tuple[str, Callable[[DatasetQuality], str]], ...] = (
    ("questions", lambda quality: f"{quality.questions:,}"),
    ("of them with an answer", lambda quality: f"{quality.answerable:,}"),
    ("answers per question", lambda quality: _spread(quality.answers)),
    ("question characters", lambda quality: _spread(quality.question_characters)),
    ("answer characters", lambda quality: _spread(quality.answer_characters)),
    ("shared words", lambda quality: _percent(quality.shared_words)),
    ("questions that share none", lambda quality: _percent(quality.no_shared_words)),
    ("questions that copy it", lambda quality: _percent(quality.copied)),
    ("near-duplicate questions", lambda quality: _percent(quality.near_duplicates)),
    ("documents with an answer", lambda quality: _percent(quality.documents)),
    ("text that is an answer", lambda quality: _percent(quality.text)),
    ("BM25: found at rank 1", _of_bm25("found_at_1")),
    ("BM25: found by rank 10", _of_bm25("found_at_10")),
    ("BM25: recall at 10", _of_bm25("recall_at_10")),
    ("BM25: MRR at 10", lambda quality: _UNDEFINED if quality.bm25 is None else f"{quality.bm25.mrr_at_10:.3f}"),
)


ADVICE: Mapping[FindingKind, str] = {
    FindingKind.DOCUMENT_MISSING: "no retriever can find what the corpus does not hold. Is the pattern of files "
    "(glob) the right one? `rag-eval dataset update` finds labels of renamed documents again",
    FindingKind.TEXT_DIFFERS: "`rag-eval dataset update` finds labels again, and lists those that are lost",
    FindingKind.PLACE_DIFFERS: "the same text may be there as another copy. `rag-eval dataset update` finds labels "
    "again, and lists those that are lost",
    FindingKind.CHUNK_MISSING: "labels of chunks belong to one chunking: label these chunks, or label text",
    FindingKind.BLANK_LABEL: "no retriever can find it: label text that answers",
    FindingKind.OTHER_TRUTH: "questions with the same wording cannot both be right: reword one, or keep one with all "
    "labels",
    FindingKind.NO_ANSWERS: "nothing can be scored: label at least one question",
    FindingKind.SKIPPED: "correct quotes that are not there in a table, and add it with `rag-eval dataset update "
    "--questions`; `rag-eval label` labels questions that are not labelled yet",
    FindingKind.ASKED_TWICE: "such a question counts twice in every mean: keep one",
    FindingKind.LABELLED_TWICE: "it counts once: remove the copy",
    FindingKind.LABELS_OVERLAP: "what they share counts once: were they meant to be one?",
    FindingKind.NOT_SHOWN: "no letter and no digit of it is shown to a reader: quote the text that is",
    FindingKind.STRUCK_OUT: "to a reader it is no longer valid: quote what is",
    FindingKind.COPIES_ITS_ANSWER: "lexical retrieval is flattered: ask in the words of a user",
    FindingKind.ANSWER_ELSEWHERE: "retrieving it there counts as wrong: label it there, too (`*`, or `rag-eval label`)",
    FindingKind.TOO_LONG: "no ranking reaches full recall: label less, or evaluate at more",
    FindingKind.WHITE_SPACE: "characters that nobody reads count: trim them",
    FindingKind.NO_ANSWER: "they have no score, and every result counts them",
}
"""Advice for each kind of finding."""

_WHAT: Mapping[FindingKind, tuple[str, ...]] = {
    FindingKind.DOCUMENT_MISSING: (
        "the corpus has no document {document}",
        "the corpus has no document whose id begins with {prefix}",
        "is in a document that the pattern {pattern} leaves out",
        "is in a document that is not of a kind that is read, or excluded",
    ),
    FindingKind.TEXT_DIFFERS: (
        "is {label} in the dataset, {there} in the document{why}",
        "ends at character {end:,}, the document at {length:,}{why}",
    ),
    FindingKind.PLACE_DIFFERS: (
        "its document was edited, and the label is now at {now}",
        "its document was edited, and the label is {reason}",
    ),
    FindingKind.CHUNK_MISSING: ("no chunk has the id {chunk}",),
    FindingKind.BLANK_LABEL: ("the document {document} is blank", "holds no text, or nothing but white space"),
    FindingKind.OTHER_TRUTH: ("is worded as {first} {wording}, which has other labels",),
    FindingKind.NO_ANSWERS: ("no question has an answer",),
    FindingKind.SKIPPED: (
        "{quote}: {reason}",
        "{reason}",
        "{quote} is there again; `rag-eval dataset update` takes the question back",
    ),
    FindingKind.ASKED_TWICE: ("is asked with the same truth as {first}",),
    FindingKind.LABELLED_TWICE: ("{id} is given {count:,} times", "is given {count:,} times"),
    FindingKind.LABELS_OVERLAP: ("shares {characters:,} characters with the label at {other}",),
    FindingKind.NOT_SHOWN: ("{text} is hidden ({hidden_as})", "{text} has no letter and no digit"),
    FindingKind.STRUCK_OUT: ("{text} is struck out in {part}", "{text} is struck out"),
    FindingKind.COPIES_ITS_ANSWER: (
        "repeats {count} words in a row of its answer: {run}",
        "holds {shared} of the {of} content words of its answer",
    ),
    FindingKind.ANSWER_ELSEWHERE: (
        "{text} also stands in at least {least} other places: {places}",
        "{text} also stands in {others}: {places}",
    ),
    FindingKind.TOO_LONG: (
        "its answer has {characters:,} characters: span_recall@{budget}ch is at most {most:.2f}",
        "it has {units:,} relevant units: recall@{k} is at most {most:.2f}",
    ),
    FindingKind.WHITE_SPACE: ("{text} has white space at its ends: {before:,} and {behind:,} characters",),
    FindingKind.NO_ANSWER: (
        "{one} of {questions:,} questions has no answer in the corpus",
        "{unanswered:,} of {questions:,} questions have no answer in the corpus",
    ),
}
"""The particulars of each kind of finding in words: the first of these of which all facts are known."""

_SHOWN: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("text", "quote", "run", "label", "there", "wording"), quotation),
    **dict.fromkeys(("document", "prefix", "pattern", "chunk", "id"), shown),
    "first": name_line,
    "reason": one_line,
}


def what_was_found(finding: Finding) -> str:
    """Return the particulars of a finding, on one line."""
    facts = {name: _SHOWN[name](fact) if name in _SHOWN else fact for name, fact in finding.facts.items()}
    facts |= {"places": first_of(finding.places, 3), "others": plural(len(finding.places), "other place")}
    known = (one for one in _WHAT[finding.kind] if {name for _, name, *_ in Formatter().parse(one) if name} <= {*facts})
    return next(known).format(**facts)


def not_checked(report: LintReport) -> tuple[str, ...]:
    """Return what a check could not look at, and what is needed for it."""
    if report.evaluation_type == "chunk-level":
        return () if report.has_chunks else ("whether there are such chunks, and their texts: needs the chunks",)
    if report.evaluation_type == "document-level":
        told = () if report.has_documents else ("whether there are such documents: needs the corpus",)
        return (*told, "whether a question copies its answer: documents are too long to say")
    without = f"{plural(report.unquoted, 'label')} without a text"
    if report.has_documents:
        known = f"whether {without} are where they were: nobody knows what they quoted"
        return (known,) if report.unquoted else ()
    told = ("whether labels match their documents, and where else their texts stand: needs the corpus",)
    return (*told, f"{without}: needs the corpus") if report.unquoted else told


_ROLES: Mapping[Severity, Role] = {"error": "bad", "warning": "warning", "info": "muted"}
_MOST_SHOWN = 10  # of a kind


def lint_page(report: LintReport) -> Page:
    """Return what a check of a dataset found, of many of a kind the first ten, and what could not be checked."""
    kinds = (_kind(kind, [*found]) for kind, found in groupby(report.findings, lambda finding: finding.kind))
    verdict = line((_counted(report), "bad" if report.problems else "good"))
    title = f"{name_line(report.name)}: {plural(report.questions, 'question')} checked"
    return Page(title, (Lines((verdict,)), *kinds, muted(report.not_checked, "Not checked")))


def _counted(report: LintReport) -> str:
    """Return how many errors and warnings there are, and in how many questions."""
    counts = Counter(finding.severity for finding in report.problems)
    numbers = [plural(counts[name], name) for name in ("error", "warning") if counts[name]]
    questions, skipped = (
        len({finding.query.id for finding in report.problems if finding.query and (finding.kind == "skipped") is lost})
        for lost in (False, True)
    )
    places = [plural(questions, "question")] if questions else []
    if skipped:
        alone = plural(skipped, "skipped question")
        places.append(f"{skipped:,} that {'are' if skipped > 1 else 'is'} skipped" if questions else alone)
    found = " and ".join(numbers) or "nothing is wrong"
    return f"{found[0].upper()}{found[1:]}{', in ' if places else ''}{' and '.join(places)}"


def _kind(kind: FindingKind, findings: list[Finding]) -> Lines:
    """Return the findings of a kind below what to do; of what only informs, those that are about no single question."""
    severity, advice = findings[0].severity, ADVICE[kind]
    lines = [line((f"{advice[0].upper()}{advice[1:]}", _ROLES[severity]), indent=2)]
    shown = [each for each in findings if each.query is None] if severity == "info" else findings[:_MOST_SHOWN]
    for one in shown:
        if one.query is not None:
            asked, known_as = quotation(one.query.text), f" {name_line(one.query.id)}"
            lines.append(line((asked, "label"), (known_as, "muted"), indent=2))
        where = [Part(one.where, "place"), Part(" ")] if one.where else []
        lines.append(line(*where, one.what, indent=4 if one.query else 2))
    if shown and len(findings) > len(shown):
        lines.append(line((f"… and {len(findings) - len(shown):,} more; --json lists all of them", "muted"), indent=2))
    return Lines(tuple(lines), f"{severity}: {kind} ({len(findings):,})")


_COUNTS = {
    "questions": ("questions", "in the qrels; means are over those with a score"),
    "no_answer": ("no answer", "questions to which nothing is relevant; they have no score"),
    "queries_not_ranked": ("not ranked", "questions without a ranking; they score 0.0 if anything is relevant"),
    "queries_not_judged": ("not judged", "questions that are not in the qrels; not scored"),
    "ties_or_duplicates": ("ties", "rankings with tied or unsorted scores; ties {ties}"),
    "repeated": ("repeated", "documents listed more than once in a ranking; the best score counts"),
    "contradicted": ("contradicted", "questions whose rank column contradicts this order; --order given follows it"),
}
"""Counts of a file of rankings: the short name of each, and its meaning."""

Scored = tuple[str, ScoreTable, Mapping[str, int]]
"""The name of a file of rankings, its scores, and what was counted."""


def rankings_page(
    qrels: str, judgements: Mapping[str, int], scored: Sequence[Scored], *, per_query: bool, ties: str | None = None
) -> Page:
    """Return the scores of files of rankings beside each other, with what was counted.

    Args:
        qrels: The name of the file of judgements.
        judgements: What was counted there.
        scored: The files of rankings.
        per_query: Whether to show the scores of every question, too.
        ties: How results of equal scores were ordered; by default as in the file.
    """
    how = "keep the order of the file" if ties is None else "are ordered as trec_eval does"
    again = f", {judgements['repeated']:,} repeated" if judgements["repeated"] else ""
    names = list(scored[0][1].columns)
    counted = [name for name in _COUNTS if any(known[name] for _, _, known in scored)]
    means = [[table.mean[name] for name in names] for _, table, _ in scored]
    rows = tuple((file, *map(_number, own)) for (file, _, _), own in zip(scored, means, strict=True))
    counts = tuple((file, *(f"{known[name]:,}" for name in counted)) for file, _, known in scored)
    blocks: list[Block] = [
        Table(("", *names), rows, "Scores", roles=best_cells(means)),
        Table(("", *(_COUNTS[name][0] for name in counted)), counts, "Counts"),
        _named(((_COUNTS[name][0], _COUNTS[name][1].format(ties=how)) for name in counted), 14),
    ]
    for file, table, _ in scored if per_query else ():
        columns = [map(_number, table.per_query(name).values()) for name in names]
        questions = tuple(zip(map(name_line, table.query_ids), *columns, strict=True))
        blocks.append(Table(("question", *names), questions, file))
    return Page(f"{qrels}: {plural(judgements['judgements'], 'judgement')}{again}", tuple(blocks))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def pushed_text(report: "PushReport") -> str:
    """Return how many examples were created, updated, unchanged and deleted or missing, on one line."""
    there = f"{len(report.deleted):,} deleted" if report.deleted else f"{len(report.missing):,} only in LangSmith"
    sent = f"{len(report.created):,} created, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    return f"{report.name}: {sent}, {there}"


def published_text(known: "PublishedExperiment") -> str:
    """Return what of an experiment is there, what is not, and what to do about it."""
    there = f"{known.runs} of {known.questions} runs and {known.scores_there} of {known.scores} scores are there"
    incomplete = " is incomplete" if known.is_lossy or known.unmatched else ""
    told = [f"experiment {known.name} in LangSmith{incomplete}: {there}"]
    if known.unmatched:
        told.append(
            f"not published are {len(known.unmatched)} of the run's questions, which the dataset {known.dataset_name} "
            f"does not have in this wording: {first_of(known.unmatched, _MOST_NAMED)}"
        )
    again = ". Publishing the result again makes a new experiment" if known.is_lossy else ""
    return "; ".join([*told, *known.problems]) + again
