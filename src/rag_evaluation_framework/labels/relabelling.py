"""Datasets whose documents were edited: their labels follow their words to the texts of today."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from itertools import chain, groupby, islice
from math import inf
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from ..base.notes import note
from ..base.outside import first_of, name_line
from ..base.progress import progress
from ..contracts.registry.loading import load_installed
from ..data import TOKEN, Answer, CharacterSpan, Corpus, Document, DocumentId, GroundTruth, Query, TokenLevelGroundTruth
from ..data.dataset import Dataset, Incomplete, Numbers, Skipped, check_dataset_level, whole_place
from ..data.documents import DocumentResolver, checked_corpus
from ..errors import DatasetError
from ..text import LinePlaces, TextLocator
from ..text.markups import Markup, effects_of, flat, markup_of
from ..text.text_locator import SearchedTexts
from .alignment import Alignment, Stood, Words, known_words, partners_of, word_places
from .ends import are_cut
from .quote_locator import QuoteLocator
from .quote_table import locate_quote

if TYPE_CHECKING:
    from ..report.pages.quotes import Page

# Labels carried from the texts in which they were placed to the texts of today: where their words went.

Tables: TypeAlias = list[tuple[int, int]]
Kind: TypeAlias = Literal["unchanged", "moved", "taken", "changed", "uncertain", "gone"]
"""Outcome for a label in edited documents.

`unchanged` and `moved`: it was found where it was, or elsewhere. `taken`: a person took what was proposed. `changed`:
some of its words are others now, or what is shown of them. `uncertain`: its words stand somewhere, and nobody can tell
whether they are its own. `gone`: none is left.
"""


_LONGEST = 3  # times as many words as a label has, and 20 more, are where its words may be now
_MORE = 20
_MOST_ADDED = 16  # characters on either side of a number or a word that are of it
_MOST_CELLS = 50  # of a label whose heads are compared


@dataclass(frozen=True)
class Carried:
    """Outcome for a label, with its place in the documents of today.

    Attributes:
        kind: The outcome.
        span: Its place now; None unless it was found.
        proposal: The place that a person may want, if it was not found: that of the words in its place, or of its text
            elsewhere.
        why: The reason beside its words why it was not found, such as "struck out"; "" if its words say it.
        heads: Those of its columns, or that of its row, before and now, where this is the reason.
    """

    kind: Kind
    span: CharacterSpan | None = None
    proposal: CharacterSpan | None = None
    why: str = ""
    heads: tuple[str, ...] = ()


class Carrier:
    """Carries labels of one corpus to another.

    Args:
        old: The documents in which labels were placed.
        new: The documents as they are now.
        stood: Returns which words stood in labelled documents that are not among these; see `Alignment`.
    """

    def __init__(self, old: Corpus, new: Corpus, stood: Stood | None = None) -> None:
        self.old, self.new, self._stood = old, new, stood
        self._tables = cache(tables_of)

    @cached_property
    def _aligned(self) -> Alignment:
        return Alignment(self.old, self.new, self._stood)

    @cached_property
    def _texts(self) -> TextLocator:
        return TextLocator.of(self.new)

    def carry(self, span: CharacterSpan) -> Carried:
        """Return the outcome for a label of the old corpus."""
        before = self.old[span.doc_id]
        if span.doc_id in self.new and self.new[span.doc_id].content == before.content:
            return Carried("unchanged", span)
        first, last = self._aligned.old.within(span.doc_id, span.start, span.end)
        if first >= last:
            return Carried("gone")
        words = self._between(first, last)
        if words is None:
            places = self._texts.places(before.content[span.start : span.end], limit=2)
            return Carried("gone", None, places[0] if len(places) == 1 else None)
        now = self._with_signs(span, (first, last), words)
        whole = self._uncut(span, now)
        if self._aligned.run_around(first, last) is None:
            return Carried("changed", None, whole)
        if differs := self._other(span, now, whole):
            return Carried("changed", None, whole, *differs)
        if not self._aligned.is_certain(first, last):
            return Carried("uncertain", None, now)
        same = (now.doc_id, now.start) == (span.doc_id, span.start)
        return Carried("unchanged" if same else "moved", now)

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the words that stand today where those of a label were: from its first one that is left to its last.

        If words at an end of it are gone, they go as far as to the nearest word beside it in its line that is left;
        without one, as far as the line goes; but never over more cells than it does.
        """
        where, old, new = self._aligned.where, self._aligned.old, self._aligned.new
        low, high = old.line_at(first)[0], old.line_at(last - 1)[1]
        kept, ahead, behind = (
            [int(word) for word in where[slice(*place)] if word >= 0]
            for place in ((first, last), (low, first), (last, high))
        )
        near = [*kept, *ahead[-1:], *behind[:1]]
        if not near:
            return None
        begin = int(where[first]) if where[first] >= 0 else ahead[-1] + 1 if ahead else new.line_at(min(near))[0]
        end = (
            int(where[last - 1]) if where[last - 1] >= 0 else behind[0] - 1 if behind else new.line_at(max(near))[1] - 1
        )
        most = _LONGEST * (last - first) + _MORE
        for one, other in ((begin, end), (min(kept, default=-1), max(kept, default=-1))):
            if 0 <= one <= other < one + most and (new.codes[one : other + 1] >= 0).all():
                cells, count = [*_cells(new, one, other + 1), other + 1], len(_cells(old, first, last))
                more = max(len(cells) - 1 - count, 0)
                columns = (len(_cells(words, words.line_at(at)[0], at + 1)) for words, at in ((old, first), (new, one)))
                before = min(max(next(columns) - next(columns), 0), more)
                return cells[before], cells[len(cells) - 1 - more + before]
        return None

    def _with_signs(self, span: CharacterSpan, old: tuple[int, int], new: tuple[int, int]) -> CharacterSpan:
        """Return the place of words of today, with the signs at its ends that a label has at its ends.

        Args:
            span: The label.
            old: The first and one past the last word of the label.
            new: Those of its place.
        """
        words, before = self._aligned.new, self.old[span.doc_id]
        there = words.document_of(new[0])
        source, content = before.content, there.content
        shown, shown_there = self._markup(before, self._aligned.old), self._markup(there, words)
        start, stop = int(words.starts[new[0]]), int(words.ends[new[1] - 1])
        low = int(words.ends[new[0] - 1]) if new[0] > words.bounds(there.id)[0] else 0
        high = int(words.starts[new[1]])  # of the gap behind a document, that is its end
        first, last = int(self._aligned.old.starts[old[0]]), int(self._aligned.old.ends[old[1] - 1])
        if span.start > first:  # inside a word: of another one, it is the whole word
            if content.startswith(source[first : int(self._aligned.old.ends[old[0]])], start):
                start += span.start - first
        elif content.endswith(source[span.start : first], 0, start):
            start -= first - span.start
        else:
            signs = _signs(shown, span.start, first)
            start = next((at for at in range(start, low - 1, -1) if _signs(shown_there, at, start) == signs), start)
        if span.end < last:
            if content.endswith(source[int(self._aligned.old.starts[old[1] - 1]) : last], 0, stop):
                stop -= last - span.end
        elif content.startswith(source[last : span.end], stop):
            stop += span.end - last
        else:
            signs = _signs(shown, last, span.end)
            stop = next((at for at in range(stop, high + 1) if _signs(shown_there, stop, at) == signs), stop)
        return CharacterSpan(there.id, start, stop, content[start:stop])

    def _uncut(self, span: CharacterSpan, now: CharacterSpan) -> CharacterSpan:
        """Return a place with what is of its first and last word, as a sign, where that of its label was whole."""
        document, was = self.new[now.doc_id], are_cut(self.old[span.doc_id], span.start, span.end)
        content = document.content

        def whole(side: int, places: range) -> int:
            for at in () if was[side] else places:
                goes_on = at != places[0] and content[at - 1 + side : at + side].isalnum()
                if not (goes_on or are_cut(document, *sorted((at, (now.end, now.start)[side])))[side]):
                    return at
            return places[0] if was[side] else places[-1]

        start = whole(0, range(now.start, max(now.start - _MOST_ADDED, -1), -1))
        end = whole(1, range(now.end, min(now.end + _MOST_ADDED, len(content)) + 1))
        return CharacterSpan(now.doc_id, start, end, content[start:end])

    def _other(self, span: CharacterSpan, now: CharacterSpan, whole: CharacterSpan) -> tuple[Any, ...]:
        """Return how a label differs from its words today beyond markup and typography, and by which heads, if so."""
        old, new = self.old[span.doc_id], self.new[now.doc_id]
        markup, markup_now = self._markup(old, self._aligned.old), self._markup(new, self._aligned.new)
        if flat(markup.shown(span.start, span.end)).strip() != flat(markup_now.shown(now.start, now.end)).strip():
            return ("signs",)
        if effects_of(markup, span.start, span.end) != effects_of(markup_now, now.start, now.end):
            return ("struck out, raised or lowered",)
        if whole != now:
            return ("part of another word or number",)
        tables, tables_now = self._tables(old), self._tables(new)
        columns, columns_now = _columns(old, span, tables), _columns(new, now, tables_now)
        if columns != columns_now:
            return "another column", (" | ".join(columns), " | ".join(columns_now))
        _, row, start = heads_of(old, span.start, tables)
        _, row_now, start_now = heads_of(new, now.start, tables_now)
        if row == row_now:
            return ()
        # A line that was wrapped anew has another key, or none: some words more or less before the same ones.
        run = self._aligned.run_around(*self._aligned.old.within(span.doc_id, start, span.end))
        begin, _ = self._aligned.new.within(now.doc_id, start_now, now.end)
        less, more = sorted((row.split(), row_now.split()), key=len)
        is_wrapped = run is not None and run[1] <= begin and more[len(more) - len(less) :] == less
        return () if is_wrapped else ("another row", (row, row_now))

    def _markup(self, document: Document, words: Words) -> Markup:
        if document.id not in words.markups:
            words.markups[document.id] = markup_of(document.id, document.content)
        return words.markups[document.id]


def _signs(markup: Markup, start: int, end: int) -> str:
    return flat(markup.shown(start, end)).strip()


# What a value is about: the head of its column and of its row. Under or beside another one it says something else.

# The border between cells, and the line that is the key of the one below it: a short one, in definitions of any length.
_FORMS = dict.fromkeys([".html", ".htm", ".docx", ".tsv"], (re.compile("\t"), re.compile(r"[^\n]{1,30}\n")))
_FORM = re.compile(r"(?<!\\)\|"), re.compile(r"[^\n]+\n(?=[ \t]*(?::[ \t]|<dd\b))")
_KEY = re.compile(  # "- **Team**:", "Team –", "team =", "<dt>Team</dt>"; without a mark not of a line of two sentences
    r"[ \t>]*(?P<marked>(?:[-*+•]|\d+[.)])[ \t]+|(?=[*_`:<]))?(?:<dt\b[^\n]*?</dt>|"
    r"(?:[^\n.!?:：]|[.!?:](?=[^\s*_`])){1,60}?(?:：|:[*_`]*(?=\s)|[ \t][-–—=]+>?(?=[ \t])))"
    r"(?(marked)|(?![^\n]*[.!?][ \t]+\S))"
)


def _form(document: Document) -> tuple[re.Pattern[str], ...]:
    return _FORMS.get(PurePosixPath(document.id).suffix.lower(), _FORM)


def _cells(words: Words, first: int, last: int) -> list[int]:
    """Return the first word of each cell, as far as some words go."""
    document = words.document_of(first)
    places = zip(words.ends[first : last - 1].tolist(), words.starts[first + 1 : last].tolist(), strict=True)
    border = _form(document)[0]
    return [first, *(at for at, gap in enumerate(places, first + 1) if border.search(document.content, *gap))]


def tables_of(document: Document) -> Tables:
    """Return where the tables of a document begin and end: lines with a border, one after the other."""
    border, found, begin = _form(document)[0], list[tuple[int, int]](), 0
    for line in document.content.split("\n"):
        end = begin + len(line) + 1
        if border.search(line):
            found.append((found.pop()[0] if found and found[-1][1] == begin else begin, end))
        begin = end
    return found


@lru_cache(maxsize=1_000)
def _shown(doc_id: DocumentId, text: str) -> str:
    return flat(markup_of(doc_id, text).text).strip()


def _columns(document: Document, span: CharacterSpan, tables: Tables) -> list[str]:
    """Return the heads of the columns in which a label is, each once; of many cells, of the first ones and the last."""
    borders = islice(_form(document)[0].finditer(document.content, span.start, span.end - 1), _MOST_CELLS)
    begins = (span.start, *(border.end() for border in borders), span.end - 1)
    return [*dict.fromkeys(heads_of(document, at, tables)[0] for at in begins)]


def heads_of(document: Document, start: int, tables: Tables) -> tuple[str, str, int]:
    """Return the heads of the column and of the row in which a label is, "" without, and where that of its row begins.

    Cells are parted by tabs in texts of HTML and DOCX, and elsewhere by a border `|`. The first one with a text is the
    head of its row, the first row has those of the columns: with borders only above a rule. A line without cells has a
    key: what is before a colon, a dash or an equals sign within its first 60 characters, or the line directly above: in
    text of HTML one of up to 30 characters, else that of a definition.
    """
    content, (border, key_line) = document.content, _form(document)

    def line_from(begin: int) -> str:
        end = content.find("\n", begin)
        return content[begin : end if end >= 0 else len(content)]

    first = content.rfind("\n", 0, start) + 1
    heads, row = [""], [""]  # cells, the latter as far as to the label
    head, end = tables[at] if (at := bisect_right(tables, (first, inf)) - 1) >= 0 else (0, 0)
    if first < end:
        rule, row = line_from(head + len(line_from(head)) + 1), border.split(content[first:start])
        if head < first and (border is not _FORM[0] or (rule.strip() and not rule.strip("|-: \t\r"))):
            heads = border.split(line_from(head))
    else:
        above = content.rfind("\n", 0, max(first - 1, 0)) + 1
        if (key := _KEY.match(content, first) or key_line.match(content, above)) and key.end() <= start:
            first, row = key.start(), [key[0], ""]
    column, lead = len(row) - 1, next(filter(str.strip, row[:-1]), "")
    heading = _shown(document.id, heads[column]) if column < len(heads) else ""
    return heading, _shown(document.id, lead), first if lead else start


# Datasets whose documents were edited: their labels follow their words.

_PAGE = "rag_evaluation_framework.report.pages.quotes:update_page"  # loaded when it is shown
_TELLING = 4  # words of a text that hardly stands anywhere by coincidence
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class LabelChange:
    """Change of one labelled span of a question.

    Attributes:
        query: The question.
        numbers: The number of its answer in the question, that of the place in the answer, and its own in the place.
        before: The span where it was last placed, with its text.
        carried: Where it is now.
        was_lost: Whether it was not in the documents before.
        text: The hash of the text in which it was last placed; "" if it is not known.
        there: The hash of the text of today in which its proposal is; "" without one.
    """

    query: Query
    numbers: Numbers
    before: CharacterSpan
    carried: Carried
    was_lost: bool = False
    text: str = ""
    there: str = ""

    @property
    def kind(self) -> str:
        """One of `unchanged`, `moved`, `changed`, `uncertain`, `gone`; see `Carried`."""
        return self.carried.kind

    @property
    def is_found(self) -> bool:
        """Whether it is in the documents as they are now."""
        return self.carried.span is not None

    @cached_property
    def id(self) -> str:
        """Name by which a person takes its proposal: 12 digits, others as soon as the document of that is edited."""
        offered = self.carried.proposal
        place = (offered.doc_id, offered.start, offered.end, self.there) if offered else ()
        named = [self.query.id, self.numbers, self.before.doc_id, self.before.text, *place]
        return sha256(repr(named).encode("utf-8", "surrogatepass")).hexdigest()[:12]

    @property
    def reason(self) -> str:
        """Why it is not in the documents: "changed in a.md (signs)"; "" if it is."""
        where = name_line(self.before.doc_id)
        why = f" ({self.carried.why})" if self.carried.why else ""
        return "" if self.is_found else f"{self.kind} {'from' if self.kind == 'gone' else 'in'} {where}{why}"

    def record(self, lines: LinePlaces) -> dict[str, Any]:
        """Return it as files hold it."""
        query = {"id": self.query.id, "query": self.query.text}
        told: dict[str, Any] = {"id": self.id, "kind": self.kind, "query": query, "before": asdict(self.before)}
        told |= {"why": self.carried.why} if self.carried.why else {}
        told |= {"heads": self.carried.heads} if self.carried.heads else {}
        places = {"now": self.carried.span, "proposal": self.carried.proposal}
        return told | {key: asdict(span) | {"where": lines.named(span)} for key, span in places.items() if span}


@dataclass(frozen=True, repr=False)
class Relabelled:
    """Dataset in an edited corpus, and what became of its labels.

    Attributes:
        before: The dataset as it was.
        dataset: The questions of which every answer has a place in the edited corpus, with that. What is not there
            stays in `Dataset.incomplete`, and is looked for again whenever the documents change.
        changes: One entry per labelled span, in the order of the questions.
        lost: The questions that are skipped, as an answer of theirs has no place.
    """

    before: Dataset[CharacterSpan]
    dataset: Dataset[CharacterSpan]
    changes: tuple[LabelChange, ...]
    lost: tuple[Query, ...]

    @property
    def changed(self) -> tuple[LabelChange, ...]:
        """The labels that are not where they were, those that are for a person to look at first."""
        changed = (change for change in self.changes if change.kind != "unchanged" or change.was_lost)
        return tuple(sorted(changed, key=lambda change: change.is_found))

    def taking(self, ids: Collection[str]) -> "Relabelled":
        """Return the same with those labels where their proposals are.

        Args:
            ids: The ids of changes.

        Raises:
            DatasetError: No change with a proposal has one of these ids.
        """
        offered = {change.id for change in self.changes if change.carried.proposal}
        if unknown := [name for name in dict.fromkeys(ids) if name not in offered]:
            raise DatasetError(
                f"no change has the id {first_of([*map(repr, unknown)], 5)}; expected ids as `rag-eval dataset update "
                "--json` lists them for these documents, of changes with a proposal"
            )
        taken = [
            replace(change, carried=Carried("taken", change.carried.proposal)) if change.id in ids else change
            for change in self.changes
        ]
        return _relabelled(self.before, cast("Corpus", self.dataset.corpus), taken)

    def summary(self, whole: bool = False) -> "Page":
        """Return it as people read it: the weakest labels that fit on a screen, or the whole page."""
        page: Page = load_installed(_PAGE)(self, self.dataset.corpus, whole=whole)
        return page

    def counts(self) -> dict[str, int]:
        """Return how many labels there are of each kind."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in KINDS}

    def counted(self) -> str:
        """Return the counts in words: "3 labels: 1 unchanged, 2 moved"."""
        counts = self.counts()
        told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind] or kind == "unchanged")
        back = sum(change.is_found and change.was_lost for change in self.changes)
        told = f"{told}; {back} back" if back else told
        skipped = f"; {len(self.lost)} question{'s' * (len(self.lost) != 1)} skipped" if self.lost else ""
        return f"{len(self.changes)} label{'s' * (len(self.changes) != 1)}: {told}{skipped}"

    def record(self) -> dict[str, Any]:
        """Return the counts, and the labels that are not where they were, as files hold them."""
        lines = LinePlaces(cast("Corpus", self.dataset.corpus))
        return {"counts": self.counts(), "changes": [change.record(lines) for change in self.changed]}

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"Relabelled({self.counted()})"

    def _repr_html_(self) -> str:
        return self.summary(whole=True).as_html()


def relabel(dataset: Dataset[CharacterSpan], corpus: Corpus) -> Relabelled:
    """Carry the labels of a dataset to documents that were edited since they were labelled.

    The labelled texts, which datasets keep, are aligned with those of today word by word, and a label goes where its
    words went. Where no text was kept, that of the label is looked for: in its document, else in all of them. A
    question is skipped as a whole if one of its answers has no place: scored by the others alone, retrieving the right
    text would count as wrong. An answer with several places has those that are left.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: A labelled text that the dataset keeps is damaged.
        LevelMismatch: The dataset is not token-level: documents and chunks have ids, which no edit moves.
    """
    check_dataset_level(dataset, TOKEN)
    corpus = checked_corpus(corpus)
    versions = _Versions(dataset, corpus)
    asked = {entry.query.id: Incomplete.of(entry) for entry in dataset}
    asked |= {question.query.id: question for question in dataset.incomplete}
    changes: list[LabelChange] = []
    for question in progress(asked.values(), "Following labels", "question"):
        given = [(numbers, span, question.texts.get(numbers)) for numbers, span in question.labels()]
        texts = [dataset.texts.get(span.doc_id, "") if text is None else text for _, span, text in given]
        carried = [versions.carried(span, text) for (_, span, _), text in zip(given, texts, strict=True)]
        places = {now.span for now in carried}
        for (numbers, span, earlier), text, now in zip(given, texts, carried, strict=True):
            now = replace(now, proposal=None) if now.proposal in places else now  # it is a label already
            before, there = versions.read(span, text), corpus[now.proposal.doc_id].content_hash if now.proposal else ""
            changes.append(LabelChange(question.query, numbers, before, now, earlier is not None, text, there))
    if named := first_of([*map(name_line, versions.not_kept)], 3):
        named = f"{named} in {name_line(str(dataset.kept.folder))}" if dataset.kept else named
        note(f"labelled texts that are not kept: {named}; labels there are found only where all that they quote stands")
    return _relabelled(dataset, corpus, tuple(changes))


def _relabelled(dataset: Dataset[CharacterSpan], corpus: Corpus, changes: Sequence[LabelChange]) -> Relabelled:
    """Return a dataset with its labels where they are now."""
    truth: dict[str, GroundTruth[CharacterSpan]] = {entry.query.id: entry for entry in dataset if not entry.labels}
    incomplete, lost = list[Incomplete](), dict[str, list[LabelChange]]()
    for query, some in groupby(changes, lambda change: change.query):
        of_question = [*some]
        answers = [
            [[*labels] for _, labels in groupby(answer, lambda change: change.numbers[1])]
            for _, answer in groupby(of_question, lambda change: change.numbers[0])
        ]
        whole = [
            [spans for place in answer if (spans := whole_place([change.carried.span for change in place]))]
            for answer in answers
        ]
        if all(whole):
            truth[query.id] = TokenLevelGroundTruth(query, tuple(Answer(tuple(answer)) for answer in whole))
        else:
            lost[query.id] = [change for change in of_question if not change.is_found] or of_question
        if sum(map(len, whole)) < sum(map(len, answers)):
            at_places = tuple(
                tuple(tuple(one.carried.span or one.before for one in place) for place in answer) for answer in answers
            )
            texts = {change.numbers: change.text for change in of_question if not change.is_found}
            incomplete.append(Incomplete(query, at_places, texts))
    incomplete.sort(key=lambda question: question.query.id not in truth)  # as they are listed when they are read
    wanted = {text for question in incomplete for text in question.texts.values() if text}
    wanted -= set[str]() if dataset.kept is None else dataset.kept.digests()
    order = dict.fromkeys((*(query.id for query in dataset.queries), *truth))
    gone = chain.from_iterable(lost.values())
    gone_now = [Skipped(one.query, one.before.text, one.reason, one.before.doc_id) for one in gone]
    left = [label for label in dataset.skipped if label.query.id not in truth.keys() | lost.keys()]
    updated = replace(
        dataset,
        ground_truth=tuple(truth[query_id] for query_id in order if query_id in truth),
        corpus=corpus,
        corpus_hash=None,
        skipped=(*left, *gone_now),
        incomplete=tuple(incomplete),
        earlier={digest: text for digest in sorted(wanted) if (text := dataset.text(digest)) is not None},
    )
    return Relabelled(dataset, updated, tuple(changes), tuple(some[0].query for some in lost.values()))


class _Versions:
    """Carries labels from the texts in which they were placed, as far as the dataset keeps them.

    Labels that were lost were placed in earlier texts than the others. A version of the corpus has one text of every
    document: the earlier ones, in place of what became of them.
    """

    def __init__(self, dataset: Dataset[CharacterSpan], corpus: Corpus) -> None:
        self.dataset, self.corpus = dataset, corpus
        self._now = {document.id: document.content_hash for document in corpus}
        labels = ((one.texts, numbers, span) for one in dataset.incomplete for numbers, span in one.labels())
        lost = [(span, texts[numbers]) for texts, numbers, span in labels if numbers in texts]
        self._earlier: list[dict[DocumentId, str]] = [{}]
        for doc_id, text in dict.fromkeys((span.doc_id, text) for span, text in lost if text):
            if all(doc_id in texts for texts in self._earlier):
                self._earlier.append({})
            next(texts for texts in self._earlier if doc_id not in texts)[doc_id] = text
        self._lost = {span.text for span, _ in lost if len(span.text.split()) >= _TELLING}
        self._carriers: dict[int, Carrier] = {}
        self._locator, self._resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)
        self.not_kept: dict[DocumentId, None] = {}  # documents whose labelled texts are nowhere

    def read(self, span: CharacterSpan, text: str) -> CharacterSpan:
        """Return a label with what it quotes, if that is known."""
        content = None if span.text else self.dataset.text(text)
        return span if content is None else replace(span, text=content[span.start : span.end])

    def carried(self, span: CharacterSpan, text: str) -> Carried:
        """Return what became of a label.

        Args:
            span: Where it was last placed.
            text: The hash of the text that its document had then; "" if it is not known.
        """
        if text and self._now.get(span.doc_id) == text:
            return Carried("unchanged", span)
        content = self.dataset.text(text)
        if text and content is None:
            self.not_kept.setdefault(span.doc_id)
        if content is None or (span.text and content[span.start : span.end].split() != span.text.split()):
            return self._located(span, is_edited=bool(text))
        number = next((at for at, texts in enumerate(self._earlier) if texts.get(span.doc_id) == text), -1)
        if number not in self._carriers:
            known = known_words(self.dataset)
            self._carriers[number] = Carrier(self._version(number), self.corpus, known.stood if known else None)
        return self._carriers[number].carry(span)

    def _version(self, number: int) -> Corpus:
        """Return a version of the labelled documents; number -1 is the one in which all were labelled that are there.

        An earlier document stands there in place of what it became. That is no document with what its lost labels
        quoted: they would have been found in it. One that became nothing is gone, and may be there again.
        """
        earlier, texts = self._earlier[max(number, 0)], self.dataset.texts
        first, labelled = self._read(earlier), self._read(texts)
        searched = SearchedTexts([one.content for one in labelled])
        has_lost = {at for text in self._lost for at, _ in searched.occurrences(text)}
        became = [one for at, one in enumerate(labelled) if at not in has_lost]
        later = partners_of(first, became) if first and became else {}
        if number < 0:
            first = [document for document in first if document.id not in later and document.id not in texts]
            return Corpus([*first, *labelled])
        left = (one for one in labelled if one.id not in later.values() and one.id not in earlier)
        return Corpus([*first, *left])

    def _read(self, texts: Mapping[DocumentId, str]) -> list[Document]:
        known = ((name, self.dataset.text(text)) for name, text in texts.items())
        return [Document(name, content) for name, content in known if content is not None]

    def _located(self, span: CharacterSpan, is_edited: bool) -> Carried:
        """Return where a label is whose text was not kept: where it was, or the only place of what it quotes.

        Args:
            span: The label.
            is_edited: Whether its document was edited, so that a few words may be those of another label.
        """
        doc_id = span.doc_id if span.doc_id in self.corpus else self._resolver.find(span.doc_id) or span.doc_id
        there = self.corpus[doc_id].content[span.start : span.end] if doc_id in self.corpus else ""
        # Without a text, nobody knows what was quoted of documents that may be others.
        is_there = there.split() == span.text.split() if span.text else len(there) == span.length()
        if there and is_there and (span.text or self.dataset.corpus_hash is None):
            return Carried("unchanged", replace(span, doc_id=doc_id, text=there))
        for document in [*([str(doc_id)] if doc_id in self.corpus else []), ""] if span.text.strip() else []:
            places = locate_quote(span.text, document, self._locator, self._resolver).places
            if len(places) == 1 and len(places[0]) == 1:
                is_telling = not is_edited or len([*word_places(span.text)]) >= _TELLING
                return Carried("moved", places[0][0]) if is_telling else Carried("uncertain", None, places[0][0])
        return Carried("gone")


# Files that the pattern of a corpus leaves out: labels in them are not lost.


def leaving_out(doc_id: str, corpus: Corpus) -> str | None:
    """Return the pattern of a corpus if it leaves out the file with this name in its folder; None if it does not.

    It is "" if files are read by their kind: that, or what is excluded, leaves it out.
    """
    folder, pattern = corpus.metadata.get("source"), corpus.metadata.get("glob_pattern", "")
    path = PurePosixPath(doc_id)
    hidden = any(part.startswith(".") for part in path.parts)  # or outside the folder, if it is ".."
    if doc_id in corpus or hidden or path.is_absolute() or not isinstance(folder, str):
        return None
    with suppress(OSError, ValueError):  # no file can be called so
        if (Path(folder) / path).is_file():
            return pattern if isinstance(pattern, str) else ", ".join(pattern)
    return None
