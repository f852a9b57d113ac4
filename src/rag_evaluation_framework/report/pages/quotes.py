"""A table of quotes as people read it: how many were located, and what to do about each of the others."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.distance import LCSseq

from ...base.outside import cut_short, grouped, name_line, one_line
from ...data import Answer, CharacterSpan, Corpus, Dataset, count_skipped
from ...labels import Additions, LabelChange, QuoteCheck, QuoteRow, Relabelled, Suggestion, skipped_questions
from ...text.text_locator import LinePlaces, folder_of
from ..blocks import Block, Line, Lines, Part, Passage, Passages, Role, excerpt, line, plural, quoted
from ..blocks import Page as Page

_SCREEN, _FEW = 4, 6  # rows that fit on a screen, shortened; up to so many are shown as they are
_WHOLE = 5000  # rows of a page that a browser opens at once, each about 1 kB
_MORE = "--html writes a page of all"
_MOST_PLACES = 3
_SHORT = 50  # characters of a quote, or of a difference, on one line
_AROUND, _LONGEST = 200, 2000  # characters of a document around what is marked, and of that
_TITLES = ("Missing", "Ambiguous", "Located, but not shown or struck out", "Located", "Without an answer")
NO_SUGGESTION = "There is nothing to suggest."


def quotes_page(check: QuoteCheck, whole: bool = False) -> Page:
    """Return how many quotes were located, and which to look at, the weakest first.

    That is quotes that were not located, and those located where nothing is shown or it is struck out.

    Args:
        check: The check.
        whole: Up to 5,000 quotes, also those that were located, each marked in its passage, instead of a screen.
    """
    counts = Counter(row.status for row in check.rows)
    unanswered = len({row.id or row.question for row in check.rows if row.status == "no-answer"})
    told = (
        f"{counts['located']:,} of {plural(len(check.rows) - counts['no-answer'], 'quote')} located, "
        f"{counts['ambiguous']:,} ambiguous, {counts['missing']:,} missing; "
        f"{plural(unanswered, 'question')} without an answer"
    )
    more = [line((skipped_questions(check.skipped), "warning"))] if check.skipped else []
    more += [line(check.alternatives)] if check.alternatives else []
    numbers = {"missing": 0, "ambiguous": 1, "no-answer": 4}
    kinds = grouped((numbers.get(row.status, 2 if row.warning else 3), row) for row in check.rows)
    listed = [kinds.get(number, []) for number in range(len(_TITLES) if whole else len(_TITLES) - 2)]
    listed[0].sort(key=lambda row: row.suggestion.similarity if row.suggestion else 0)
    lengths = [*map(len, listed)]
    shown = shares(lengths, whole)
    rows, pages = _Rows(check, whole, is_short=not whole and shown != lengths), list[Page]()
    for title, some, most in zip(_TITLES, listed, shown, strict=False):
        blocks = (block for number, row in enumerate(some[:most]) for block in rows.shown(row, number == 0))
        pages += [_kind(title, blocks, len(some), most, whole, folded=title in _TITLES[-2:])] if some else []
    return Page.of(told, Lines(tuple(more)), *pages)


def shares(counts: Sequence[int], whole: bool) -> list[int]:
    """Return how many of each kind are shown: as many of one as of another, as far as there are so many.

    On a screen that is 4 together, or all if these are few; on a whole page 5,000.
    """
    most = _WHOLE if whole else _SCREEN if sum(counts) > _FEW else _FEW
    shown = [0] * len(counts)
    while sum(shown) < min(most, sum(counts)):
        for at, count in enumerate(counts):
            shown[at] += shown[at] < count and sum(shown) < most
    return shown


def _kind(title: str, blocks: Iterable[Block], count: int, shown: int, whole: bool, *, folded: bool) -> Page:
    """Return what is shown of one kind and, if that is not all, how many more there are, and where."""
    told = f"… and {count - shown:,} more" if shown else "not shown"
    more = (line((f"{told}; {_MORE}", "muted"), indent=2),) if count > shown else ()
    return Page(title, (*blocks, Lines(more)), aside=f"{count:,}" if more or whole else "", folded=folded)


def suggestions_text(check: QuoteCheck, path: Path | None, again: str) -> str:
    """Return the line about suggestions for quotes; "" if there are none.

    Args:
        check: The check.
        path: The file of the suggestions, None without any.
        again: The command that reads the file.
    """
    if path is None:
        return ""
    count = sum(row.suggestion is not None for row in check.problems)
    return (
        f"\n{plural(count, 'suggestion')} beside the quotes: {path}. Write yes in the column accept where a suggestion "
        f"is what was meant, correct the other quotes, then:{again}"
    )


class _Rows:
    """Rows of a table of quotes; short where the screen is full."""

    def __init__(self, check: QuoteCheck, whole: bool, is_short: bool) -> None:
        self.check, self.whole, self.is_short = check, whole, is_short
        self.lines, self.inside = LinePlaces(check.corpus), folder_of(check.corpus)

    def shown(self, row: QuoteRow, is_first: bool) -> Iterator[Lines | Passages]:
        """Yield the quote of a row, and what it may mean or what to do about it: what is the same for all, once."""
        quote = quoted(self._short(one_line(row.quote))) if row.quote.strip() else "(empty)"
        status = "" if row.status in ("located", "no-answer") else f", {row.status}"
        told = [line((f"line {row.number}{status}: ", "warning"), quote, indent=2)]
        if self.whole:
            told.append(line((row.question, "label"), indent=4))
        if row.status == "located" and row.warning:
            told.append(line((self.lines.path(row.places[0][0]), "place"), f" {row.warning}", indent=4))
        elif row.suggestion is not None:
            told += self._nearest(row.suggestion)
        elif row.status == "ambiguous" and self.is_short and not is_first:
            where = self._first([self.lines.path(place[0]) for place in row.places[:_MOST_PLACES]], len(row.places))
            told.append(line((where, "place"), indent=4))
        elif row.advice:
            told.append(line(self._advice(row), indent=4))
        yield Lines(tuple(told))
        if self.whole:
            places = row.places or ((row.suggestion.spans,) if row.suggestion else ())
            spans = (span for place in places[:_MOST_PLACES] for span in place)
            yield Passages(tuple(self._marked(span, row) for span in spans))

    def _marked(self, span: CharacterSpan, row: QuoteRow) -> Passage:
        """Return a place of a quote, or what it may mean, marked in its document."""
        content, end = self.check.corpus[span.doc_id].content, min(span.end, span.start + _LONGEST)
        marked = Part(content[span.start : end], "found" if row.status == "located" else "missed")
        note = f"ignoring: {', '.join(row.ignoring)}" if row.ignoring and not row.warning else ""
        return Passage(excerpt(content, span.start, end, _AROUND, [marked]), self.lines.path(span), note=note)

    def _nearest(self, found: Suggestion) -> Iterator[Line]:
        """Yield the passage that is nearest to a quote, where it stands, of many places the first, and what differs."""
        where = self._first([f"{self.inside}{place}" for place in found.copies[:_MOST_PLACES]], len(found.copies))
        text = "" if self.whole or self.is_short else f"{quoted(found.quote)} "
        yield line(f"nearest, {found.percent} similar: {text}", (where, "place"), indent=4)
        if found.difference:
            yield line(f"differs: {self._short(found.difference)}", indent=4)

    def _advice(self, row: QuoteRow) -> str:
        """Return the advice of a row, with the folder before each of its places that the advice names."""
        told, at = "", 0
        for spans in row.places[:_MOST_PLACES]:
            name = self.lines.named(spans[0])  # that of several places on a page of a PDF
            first = row.advice.find(name, at)
            if first >= 0:
                told, at = f"{told}{row.advice[at:first]}{self.inside}{name}", first + len(name)
        return f"{told}{row.advice[at:]}"

    def _first(self, names: Sequence[str], count: int) -> str:
        """Return the first of many names; on a full screen one."""
        shown = names[:1] if self.is_short else names
        return f"{', '.join(shown)}{f' and {count - len(shown)} more' if count > len(shown) else ''}"

    def _short(self, text: str) -> str:
        """Return a text; on a full screen what fits on a line."""
        return cut_short(text, _SHORT) if self.is_short else text


# What became of the labels of a dataset in edited documents, and of questions added to it, as people read it.

_BESIDE, _QUESTION = 80, 120  # characters of a line on either side of a change, and of a question
_KINDS = 15  # characters of the first column
_LOOK = {"gone": "Gone", "uncertain": "Not certain", "changed": "Changed"}  # the weakest first
_FOUND = "Labels found again"


def update_page(
    found: Relabelled,
    corpus: Corpus,
    additions: Additions | None = None,
    written: Sequence[str] = (),
    whole: bool = False,
) -> Page:
    """Return what became of labels and questions, the weakest first: those that are gone, uncertain, and changed.

    Args:
        found: What became of the labels.
        corpus: The documents as they are now.
        additions: What became of the questions of a table.
        written: What was written; nothing if the dataset stays as it was.
        whole: Up to 5,000 of them, instead of the 4 that fit on a screen.
    """
    dataset, folder = found.dataset if additions is None else additions.dataset, folder_of(corpus).removesuffix("/")
    kinds: dict[str, list[Any]] = {title: [] for title in (*_LOOK.values(), _FOUND)}
    for one in found.changed:
        kinds[_FOUND if one.is_found else _LOOK[one.kind]].append(one)
    if additions is not None:
        for title, queries in (("Added", additions.added), ("Corrected", additions.corrected)):
            ids = {query.id for query in queries}
            kinds[title] = [entry for entry in dataset if entry.query.id in ids]
    counts = [*map(len, kinds.values())]
    shown, look = shares(counts, whole), counts[: len(_LOOK)]
    if not whole and shown != counts and any(look):
        shown = [*shares(look, False), *[0] * len(counts)]  # the others are counted
    pages: dict[str, Page] = {}
    for (title, entries), most in zip(kinds.items(), shown, strict=False):
        if entries:
            block, folded = _entries(title, entries[:most], corpus), whole and title not in _LOOK.values()
            pages[title] = _kind(title, [block], len(entries), most, whole, folded=folded)
    first = [pages.pop(title) for title in _LOOK.values() if title in pages]
    table = () if additions is None else (quotes_page(additions.check, whole),)
    verdict = (*_verdict(found, dataset, additions, bool(written)), *(line((text, "muted")) for text in written))
    title = f"{name_line(dataset.name)}{f', in {folder}' if folder else ''}"
    return Page.of(title, Lines(verdict), *first, *table, *pages.values())


def relabelling_text(skipped: int, label: str, table: str) -> str:
    """Return how the questions that a dataset skips are labelled again.

    Args:
        skipped: How many there are.
        label: The command that asks a person about them.
        table: The command that reads their quotes.
    """
    which, what = ("questions", "their answers") if skipped > 1 else ("question", "its answer")
    return (
        f"\nTo label the skipped {which} again, by choosing among passages:{label}\n\n"
        f"Or quote {what} in a table of question and quote, then:{table}"
    )


def _entries(title: str, entries: Sequence[Any], corpus: Corpus) -> Lines | Passages:
    """Return entries of one kind: labels to look at, labels that were found, questions."""
    if title in _LOOK.values():
        return change_passages(entries, corpus, None)
    lines, told = LinePlaces(corpus), list[Line]()
    for one in entries:
        if title == _FOUND:
            told += [_again(one, one.carried.span, lines)] if one.carried.span else []
        else:
            told += [line((one.query.text, "label"), (f" ({one.query.id})", "muted"), indent=2)]
            told += _answers(one.answers, lines)
    return Lines(tuple(told))


def _verdict(found: Relabelled, dataset: Dataset[Any], additions: Additions | None, is_written: bool) -> Iterator[Line]:
    skipped = count_skipped(dataset.skipped)
    if found.changes or is_written:
        has_lost = any(not change.is_found for change in found.changes)
        yield line((found.counted(), "warning" if has_lost else "good"))
    if is_written:
        if additions is not None:
            yield line(additions.counted())
        answerable = f"{sum(bool(entry.relevant) for entry in dataset):,} with an answer"
        rest = f"{f'{skipped:,} more' if skipped else 'none'} {'are' if skipped > 1 else 'is'} skipped"
        yield line(f"The dataset has {plural(len(dataset), 'question')}, {answerable}; {rest}")
    if any(change.carried.proposal for change in found.changes):
        yield line("--take ID makes a label what stands there now.")


def _again(change: LabelChange, span: CharacterSpan, lines: LinePlaces) -> Line:
    before = f"back{'' if change.kind == 'unchanged' else f', {change.kind}'}" if change.was_lost else change.kind
    was = f"{name_line(change.before.doc_id)}[{change.before.start}:{change.before.end}] → "
    text = f" {quoted(span.text if change.kind == 'taken' else change.before.text)}"
    return line((was, "muted"), (lines.path(span), "place"), text, indent=_KINDS, before=before)


def _answers(answers: Sequence[Answer[CharacterSpan]], lines: LinePlaces) -> Iterator[Line]:
    """Yield where the answers of a question are; the places of one are told apart by "or"."""
    spans = [
        ("or " if number > 0 and at == 0 else "", span)
        for answer in answers
        for number, place in enumerate(answer.places)
        for at, span in enumerate(place)
    ]
    for other, span in spans[:_MOST_PLACES]:
        yield line(other, (lines.path(span), "place"), f" {quoted(span.text)}", indent=4)
    if not spans:
        yield line("no answer in the corpus", indent=4)
    if len(spans) > _MOST_PLACES:
        yield line((f"… and {len(spans) - _MOST_PLACES:,} more", "muted"), indent=4)


def change_passages(changes: Sequence[LabelChange], corpus: Corpus, around: int | None = _BESIDE) -> Passages:
    """Return labels that are for a person to look at, each as what stands in its place, with what differs.

    Args:
        changes: Labels that were not found.
        corpus: The documents as they are now.
        around: How many lines around what differs a terminal shows; by default all, None for those next to it.
    """
    lines = LinePlaces(corpus)
    return Passages(tuple(_shown(change, corpus, lines) for change in changes), around=around)


def _shown(change: LabelChange, corpus: Corpus, lines: LinePlaces) -> Passage:
    now, question = change.carried.proposal, one_line(change.query.text, _QUESTION)
    if now is None:
        return Passage((*word_diff(change.before.text, ""),), "", change.id, f"{change.reason}: {question}")
    content = corpus[now.doc_id].content
    begin = content.rfind("\n", 0, now.start) + 1
    end = content.find("\n", now.end)
    before = one_line(content[max(begin, now.start - _BESIDE) : now.start])
    behind = one_line(content[now.end : min(end if end >= 0 else len(content), now.end + _BESIDE)])
    is_there = now.doc_id == change.before.doc_id and not change.carried.why
    told = f"{change.kind if is_there else change.reason}: {question}"
    told = f"{told} (its text stands only here now)" if change.kind == "gone" else told
    heads = (*word_diff(*change.carried.heads), Part(": ", "muted")) if change.carried.heads else ()
    parts = word_diff(change.before.text, now.text)
    around = (Part(f"{before} " if before else "", "muted"), Part(f" {behind}" if behind else "", "muted"))
    return Passage((*heads, around[0], *parts, around[1]), lines.path(now), change.id, told)


def word_diff(before: str, now: str) -> Iterator[Part]:
    """Yield two texts as one, word by word: what went is between [- and -], what came between {+ and +}."""
    old, new = before.split(), now.split()
    at = there = 0
    between = ""
    for same in (*LCSseq.opcodes(old, new), None):
        if same is not None and same.tag != "equal":
            continue
        end, stop = (len(old), len(new)) if same is None else (same.src_start, same.dest_start)
        went, came = " ".join(old[at:end]), " ".join(new[there:stop])
        at, there = (end, stop) if same is None else (same.src_end, same.dest_end)
        kept = "" if same is None else " ".join(new[stop:there])
        told: dict[Role, str] = {"bad": went and f"[-{went}-]", "good": came and f"{{+{came}+}}", "": kept}
        for role, text in told.items():
            if text:
                yield Part(f"{between}{text}", role)
                between = " "
