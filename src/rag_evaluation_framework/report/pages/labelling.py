"""A question that is being labelled as people read it: the passages that may answer it, and what was chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from ...authoring.people import Question, Review, ReviewSession, Session
from ...base.outside import bounded, first_of, name_line, one_line
from ...data import CHUNK, REVIEW, CharacterSpan, Corpus, Dataset, GroundTruth, Query, count_skipped
from ...datasets.checks.findings import Finding, Label, LabelTexts, units_of
from ...text.terms import places_of_words
from ...text.text_locator import LinePlaces, folder_of
from ..blocks import Block, Lines, Page, Part, Passage, Passages, Role, excerpt, line, plural, quoted, short

_MOST_PLACES = 3
_AROUND = 4_000  # characters of a document around a text
_LANGUAGE = "english"


class Key(NamedTuple):
    """A key of a prompt, such as a letter.

    Attributes:
        typed: What is typed.
        does: What it does, in the help.
        short: The same in a word or two, above the prompt; "" if it is left out there.
        done: What is said when it is done.
    """

    typed: str
    does: str
    short: str = ""
    done: str = ""


class Keys(NamedTuple):
    """The keys of a prompt.

    Attributes:
        intro: What stands first above the prompt.
        keys: What can be typed.
        outro: What stands last in the help.
    """

    intro: str
    keys: tuple[Key, ...] = ()
    outro: str = ""

    @property
    def line(self) -> str:
        """The line above the prompt."""
        named = ", ".join(f"{key.typed} {key.short}" for key in self.keys if key.short)
        return " ".join(filter(None, [self.intro, f"{named}, ? help" if named else ""]))

    @property
    def help(self) -> Lines:
        """All commands, as a table."""
        rows = [line(key.does, indent=_HELP, before=key.typed) for key in self.keys]
        return Lines((*rows, *([line(self.outro)] if self.outro else [])))

    def done(self, typed: str) -> str:
        """Return the reply to a command that was carried out; "" if there is none."""
        return next((key.done for key in self.keys if key.typed == typed), "")


_HELP = 9  # the column of the help
LATER = Key("s", "leave the question for later, as it is", "later")
_INSIDE = (
    LATER,
    Key("b", "choose among the passages again", "back"),
    Key("q", "stop; this question stays as it is", "stop"),
)
CHOOSING = Keys(
    "Numbers that answer it: 1 3 (both wanted) or 1/3 (either is enough). 0 nothing does.",
    (
        Key("1", "passage 1 answers the question"),
        Key("1 3", "passages 1 and 3 do, and both are wanted: a search has to find both"),
        Key("1/3", "passage 1 does, and so does 3: to find either is enough"),
        Key("0 or n", "nothing in the documents answers the question"),
        Key(
            "f 2", "show passage 2 in full, as it is written, and what is around it; Enter shows the list again", "full"
        ),
        Key("m", "show more passages", "more"),
        Key("/words", "search with other words; passages keep the numbers they have", "search"),
        LATER,
        Key("d", "remove the question, such as a mistyped one, and its label; you are asked", "remove"),
        Key("b", "back to the question before, to label it again", "back"),
        Key("q", "stop; everything that was labelled is saved", "stop"),
    ),
    "Then each passage is trimmed: Enter takes all of it, 2 or 2-3 these sentences, and other words are taken as they "
    "are typed; ? explains it there.",
)
TRIMMING = Keys(
    "Enter: all of it. 2 or 2-3: only these sentences. Or type the words that answer the question.",
    (
        Key("Enter", "all of the passage is the answer"),
        Key("2", "only sentence 2 is"),
        Key("2-3", "only sentences 2 and 3 are"),
        Key(
            "words",
            "only these are, as they are shown above; capitals may differ. What is a number, or a single character, is "
            'typed in quotation marks: "5"',
        ),
        *_INSIDE,
    ),
)
JOINING = Keys(
    "Any of them is enough. Enter: yes. x: no, only this place.",
    (
        Key("Enter", "all of these places are the answer, and to find any of them is enough"),
        Key("x", "only the place that was chosen is"),
        *(key._replace(short="") for key in _INSIDE),
    ),
)
OVERLAP = "Choices that overlap are one answer."


def asking(session: Session) -> Keys:
    """Return what can be typed where a question is asked for."""
    total = len(session.questions)
    progress = f"{session.labelled} of {plural(total, 'question')} labelled. " if total else ""
    return Keys(
        f"{progress}Type {'the next' if total else 'a'} question, or q to stop.",
        outro="Type a question as somebody would ask it; it is saved at once. b goes back to the one before, q stops.",
    )


def session_lines(session: Session, added: int, asked: int, notes: Iterable[str]) -> Lines:
    """Return how a session of labelling begins.

    Args:
        session: The session.
        added: How many questions of a file were added.
        asked: How many questions the file has; 0 without one.
        notes: What else is to be known.
    """
    goes_on = len(session.questions) > added
    there = f"; the dataset has the other {asked - added} already" if asked > added else ""
    told = (
        f"{'Going on with' if goes_on else 'New dataset:'} {session.path}. Every answer is saved at once.",
        f"{plural(added, 'question')} added{there}." if asked else "",
    )
    return Lines(tuple(map(line, filter(None, (*told, session.changed, *notes)))))


def session_counts(session: Session) -> str:
    """Return how many questions of a session are labelled, and where."""
    total = len(session.questions)
    if total:
        return f"{session.labelled} of {plural(total, 'question')} labelled in {session.path}"
    if session.path.exists():
        return f"{session.path} holds no question any more"
    return "no question was asked, and nothing is written"


def question_number(number: int, total: int, counts: str) -> str:
    """Return which question of a dialog comes now, by its number from 0, and what became of the others."""
    return f"Question {number + 1:,} of {total:,}{counts}:"


def removal(has_label: bool) -> tuple[str, str]:
    """Return the question that is asked before a question is removed, and the reply afterwards."""
    what = f"this question{' and its label' if has_label else ''}"
    return f"Remove {what}? Enter: yes. Anything else: no, it stays.", f"Removed: {what}."


def label_page(question: Question, corpus: Corpus) -> Page:
    """Return a question, and what is known of its answers: its labels, or those that were lost."""
    truth = question.truth
    if truth is None:
        told = [f"Its label {quoted(one.quote)} was lost: {one.reason}" for one in question.skipped if one.quote]
        told += [
            f"Still there, to be chosen again: {quoted(span.text)} ({_named([span], corpus)})" for span in question.left
        ]
    elif truth.answers:
        firsts = [(answer.reference[0], _named(answer.units, corpus)) for answer in truth.answers]
        texts = [(corpus[first.doc_id].content[first.start : first.end], where) for first, where in firsts]
        told = [f"Labelled: {quoted(text)} ({where}); s keeps it" for text, where in texts]
    else:
        told = ["Labelled: nothing in the documents answers it; s keeps that"]
    return Page(question.query.text, (Lines(tuple(map(line, told))),))


def passages_block(
    passages: Mapping[int, CharacterSpan], words: str, corpus: Corpus, counts: Mapping[int, int], most: int | None
) -> Passages:
    """Return passages by their numbers, each with its place, and the words in it that were searched for.

    Args:
        passages: The passages.
        words: The words.
        corpus: The documents.
        counts: In how many places the text of each passage is.
        most: How many characters are shown of each; by default all.
    """
    lines, shown = LinePlaces(corpus), list[Passage]()
    for number, passage in passages.items():
        more = f"also in {plural(counts[number] - 1, 'other place')}" if counts[number] > 1 else ""
        parts = tuple(_with_words(passage.text, words, most))
        shown.append(Passage(parts, lines.path(passage), str(number), more))
    return Passages(tuple(shown), around=0)


def full_block(number: int, passage: CharacterSpan, corpus: Corpus, rows: int) -> Passages:
    """Return a passage in its document, by its number: on so many lines with what is around it."""
    content, marked = corpus[passage.doc_id].content, [Part(passage.text, "found")]
    parts = excerpt(content, passage.start, passage.end, _AROUND, marked)
    return Passages((Passage(parts, LinePlaces(corpus).path(passage), str(number)),), rows=rows)


def sentences_block(
    number: int | None, passage: CharacterSpan, corpus: Corpus, sentences: Sequence[CharacterSpan], words: str
) -> Passages:
    """Return where a passage is, and its sentences, numbered, each in full, with the words that were searched for.

    Args:
        number: The number of the passage; None if it is the only one that was chosen.
        passage: The passage.
        corpus: The documents.
        sentences: Its sentences.
        words: The words.
    """
    texts = (tuple(_with_words(sentence.text, words)) for sentence in sentences)
    shown = (Passage(parts, label=str(place)) for place, parts in enumerate(texts, start=1))
    title = "" if number is None else f"Passage {number}, "
    return Passages(tuple(shown), f"{title}{LinePlaces(corpus).path(passage)}", around=0)


def copies_lines(span: CharacterSpan, copies: Sequence[CharacterSpan], corpus: Corpus) -> Lines:
    """Return in which other places the text of a span is."""
    where = f"{plural(len(copies), 'other place')}: {_named(copies, corpus)}"
    return Lines((line(f"{quoted(span.text)} is also in {where}."),))


def saved_lines(answers: Sequence[Sequence[CharacterSpan]]) -> Lines:
    """Return what was saved: how many answers, and the text of each.

    Args:
        answers: The places of each answer.
    """
    if not answers:
        return Lines((line("Saved: nothing in the documents answers it."),))
    several = [f"{len(places)} places" for places in answers if len(places) > 1]
    joined = f", at any of {' and of '.join(several)}" if several else ""
    texts = ", ".join(quoted(places[0].text) for places in answers)
    return Lines((line(f"Saved: {plural(len(answers), 'answer')}{joined}: {texts}."),))


def _named(spans: Sequence[CharacterSpan], corpus: Corpus) -> str:
    return first_of([*map(LinePlaces(corpus).path, spans)], _MOST_PLACES)


def _with_words(text: str, words: str, most: int | None = None) -> Iterator[Part]:
    """Yield a text in parts, or so many characters of it: the words that were searched for, and the rest."""
    text, at = _cut(" ".join(text.split()), words, most), 0
    for start, end in places_of_words(text, words, _LANGUAGE):
        yield from (Part(text[at:start]), Part(text[start:end], "word"))
        at = end
    yield Part(text[at:])


def _cut(text: str, words: str, most: int | None) -> str:
    """Return so many characters of a text: those with most of the words, from the beginning of a word."""
    if most is None or len(text) <= most:
        return text
    places = places_of_words(text, words, _LANGUAGE)
    inside = most - 4  # an ellipsis and a blank at either end
    begins = [0, *(min(start, len(text) - inside) for start, _ in places)]
    begin = max(begins, key=lambda begin: sum(begin <= start and end <= begin + inside for start, end in places))
    begin = text.rfind(" ", 0, begin + 1) + 1 if begin else 0
    end = begin + inside
    cut = text[begin:] if end >= len(text) else text[begin : max(text.rfind(" ", begin, end), begin + inside // 2)]
    return f"{'… ' if begin else ''}{cut}{' …' if end < len(text) else ''}"


# A question of a dataset as a person reviews it: its wording, what is known of it, and its answers where they are.

_FIRST = ("strategy", "persona", "difficulty", "query_type", "style", "source_docs", "generation_model")
_UNTOLD = (REVIEW, "prompt_versions")  # what nobody can judge a question by
_MOST_KNOWN = 500  # characters of metadata
_MOST_VALUE = 80
_BEGIN = 400  # characters of a document that is relevant as a whole
_REVIEWING = (
    Key("a", "accept the question, as it is shown", "accept", "Accepted."),
    Key("e", "edit its wording; e and a wording takes that. Its id and its answers stay", "edit the question"),
    Key("d", "drop the question", "drop it", "Dropped; b goes back to it."),
    Key("d 2", "drop answer 2, one of several; d 2 again takes it back", "drop answer 2"),
    Key("w>", "end the answer one word later, w>> two; s> one sentence; w> 2 in answer 2", "longer"),
    Key("w<", "end it one word earlier; s< one sentence", "shorter"),
    Key("<w", "begin it one word earlier; <s one sentence"),
    Key(">w", "begin it one word later; >s one sentence"),
    Key("m", "show more of the document around the answer; m 2 around answer 2", "more text"),
    LATER._replace(done="Left for later."),
    Key(
        "u",
        "undo all that was decided about the question that is shown; to undo what you did last, go back (b)",
        "undo this question",
        "The question is open, and as the file has it.",
    ),
    Key("b", "back to the question before", "back"),
    Key("q", "stop; everything that was decided is saved", "stop"),
)
REWORDING = "Enter: this is the question. What is empty, or as it was, changes nothing."


def reviewing(answers: int) -> Keys:
    """Return what can be typed about a question of so many answers."""
    return Keys(
        "",
        tuple(key._replace(short="") if key.typed == "d 2" and answers < 2 else key for key in _REVIEWING),
        "In the file, decisions are marks beside the questions, which stay as they are: --output NEW.json writes a "
        "dataset as the review wants it.",
    )


def dropped_text(answer: int, is_dropped: bool) -> str:
    """Return what became of an answer, by its number from 0."""
    number = answer + 1
    return f"Answer {number} is {f'dropped; d {number} takes it back' if is_dropped else 'back'}."


def review_lines(session: ReviewSession, path: Path, dataset: Dataset[Any], corpus: Corpus | None) -> Lines:
    """Return how a review begins.

    Args:
        session: The review.
        path: The file of the dataset.
        dataset: The dataset.
        corpus: The documents, if they are at hand.
    """
    told = [f"Reviewing {path}: {session.counts()}. Every decision is saved at once."]
    if skipped := count_skipped(dataset.skipped):
        told.append(f"Questions that the dataset skips are not reviewed: {skipped:,}.")
    if corpus is None and dataset.level is not CHUNK:
        told.append("Without --corpus, answers are shown as far as the dataset quotes them.")
    if wrong := [] if corpus is None else dataset.mismatches(corpus):
        told.append(
            f"Labels that are not in the documents as they are now: {len(wrong):,}. Is it the right folder? `rag-eval "
            "dataset update` finds labels again in documents that were edited."
        )
    return Lines(tuple(map(line, told)))


def reviewed_text(session: ReviewSession, path: Path, output: Path, count: int) -> str:
    """Return that a dataset of so many questions was written, as a review wants it."""
    left = session.counts().open
    still = f", {left:,} of them open" if left else ""
    return f"{path}: {session.counts()}.\nWrote {output} with {plural(count, 'question')}{still}; {path} is as it was"


def review_page(query: Query, review: Review, findings: Iterable[Finding], answers: Iterable[Block] = ()) -> Page:
    """Return a question, its review, its metadata, findings on it, and its answers.

    Args:
        query: The question, as its file has it.
        review: Its review.
        findings: The errors and warnings about it.
        answers: Its answers, as `answer_blocks` returns them.
    """
    told: list[tuple[str, Role]] = []
    if before := review.earlier_wording or (query.text if review.wording else ""):
        told.append((f"reworded; it was: {before}", "warning"))
    if review.verdict is not None:
        told.append((f"{review.verdict}; s keeps that", "good" if review.verdict == "accepted" else "bad"))
    told.append((_known(query), "muted"))
    roles: Mapping[str, Role] = {"error": "bad", "warning": "warning"}
    told.extend((f"{one.severity}: {one.kind}: {one.told}", roles[one.severity]) for one in findings)
    lines = tuple(line(each, indent=2) for each in told)
    return Page(review.wording or query.text, (Lines(lines), *answers))


def answer_blocks(
    entry: GroundTruth[Any],
    dropped: Sequence[int],
    texts: LabelTexts,
    most: int,
    around: int,
    rows: int | None = None,
    before: GroundTruth[Any] | None = None,
) -> Iterator[Block]:
    """Yield the answers of a question, each in its document as far as that is at hand.

    Args:
        entry: The question, as its file has it, or with the labels that a review wants.
        dropped: The numbers of the answers that were dropped, from 0.
        texts: Reads the labels.
        most: How many characters are shown of each: of a longer one the begin and the end.
        around: How many lines before and behind each.
        rows: How many lines of each answer in its document, in place of these.
        before: The question as its file has it, if its answers are edited.
    """
    labels = dict(zip(units_of(entry), texts.labels(entry), strict=True))
    count = len(entry.answers)
    if not count:
        yield Lines((line("The dataset says that nothing in the documents answers it."),), "No answer")
    for number, answer in enumerate(entry.answers):
        (first, *rest), *others = [[labels[unit] for unit in place] for place in answer.places]
        passages = [_passage(first, "", texts, most), *(_passage(label, "and", texts, most) for label in rest)]
        for at, label in ((at, label) for place in others[:_MOST_PLACES] for at, label in enumerate(place)):
            is_same = first.text is not None and (label.text or "").split() == first.text.split()
            text = Part("" if is_same else short(label.text or ""), "found")
            passages.append(Passage((text,), _where(label, texts), "and" if at else "or"))
        more = len(others) - _MOST_PLACES
        if more > 0:
            passages.append(Passage((), f"{more:,} more place{'s' * (more > 1)}", "or"))
        told = [f"Answer {number + 1} of {count}" if count > 1 else "Answer"]
        told += ["edited"] if before is not None and answer != before.answers[number] else []
        told += ["dropped"] if number in dropped else []
        yield Passages(tuple(passages), ", ".join(told), around, rows)


def _passage(label: Label, before: str, texts: LabelTexts, most: int) -> Passage:
    corpus, where = texts.corpus, _where(label, texts)
    if label.span is not None and label.text is not None:
        marked = [Part(bounded(label.text, most), "found")]
        return Passage(excerpt(texts.content(label), label.span.start, label.span.end, _AROUND, marked), where, before)
    text = label.text
    if text is None and corpus is not None and label.unit in corpus:
        text = corpus[label.unit].content.lstrip()[:_BEGIN]
    if text is None:
        return Passage((), where, before, _untold(label, corpus))
    return Passage((Part(bounded(text, most), "found"),), where, before)


def _untold(label: Label, corpus: Corpus | None) -> str:
    """Return what can be told of a label whose text cannot be shown; of a prefix, the documents that have it."""
    if label.problem is not None:
        return Finding(*label.problem).what
    prefix = label.unit.removesuffix("*") if isinstance(label.unit, str) else ""
    found = [] if corpus is None else [document.id for document in corpus if document.id.startswith(prefix)]
    if corpus is None or not label.unit.endswith("*") or not found:
        return "the text is not at hand"
    return f"any document whose id begins with it: {first_of([*map(name_line, found)], _MOST_PLACES)}"


def _where(label: Label, texts: LabelTexts) -> str:
    inside = "" if texts.corpus is None else folder_of(texts.corpus)
    if label.span is not None:
        return f"{inside}{texts.where(label.span)}"
    return f"{inside if texts.corpus is not None and label.unit in texts.corpus else ''}{name_line(label.unit)}"


def _known(query: Query) -> str:
    """Return the id of a question and its metadata on one line, what tells most first."""
    metadata = query.metadata
    known = {key: metadata[key] for key in (*_FIRST, *metadata) if key in metadata and key not in _UNTOLD}
    told = (f"{name_line(key)}: {one_line(_value(value), _MOST_VALUE)}" for key, value in known.items())
    return one_line(", ".join([f"id: {name_line(query.id)}", *told]), _MOST_KNOWN)


def _value(value: object) -> str:
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
