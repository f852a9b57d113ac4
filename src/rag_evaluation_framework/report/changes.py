"""What became of labels and questions, in a terminal; outside text is printed literally."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.label_change import LabelChange
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted
from rag_evaluation_framework.text.line_places import LinePlaces, folder_of

_MOST_SHOWN = 200
_MOST_PLACES, _LABELS, _LINE = 3, 12, 1000
_MOST_ANSWERS = 3  # places of one question
_KINDS = 15  # characters of the first column


def show_changes(console: Console, changes: Sequence[LabelChange], corpus: Corpus) -> None:
    """Print what became of labels in an edited corpus, of many the first 200: where they are, or why they were lost.

    What was lost is shown with its question, the nearest text, and in what they differ.
    """
    lines, inside = LinePlaces(corpus), folder_of(corpus)
    for change in changes[:_MOST_SHOWN]:
        if change.found.span is None:
            _show_lost(console, change, inside)
            continue
        ignored = f" ({change.particulars})" if change.particulars else ""
        now = f"{name_line(inside)}{lines.named(change.found.span)}"
        text = Text.assemble(f"{change.was} → ", (now, "cyan"), f" {quoted(change.before.text)}{ignored}")
        print_wrapped(console, text, _KINDS, change.kind)
    if len(changes) > _MOST_SHOWN:
        console.print(Text(f"… and {len(changes) - _MOST_SHOWN:,} more; --changes FILE writes all of them"))


def show_questions(console: Console, kind: str, entries: Sequence[GroundTruth[CharacterSpan]], corpus: Corpus) -> None:
    """Print the questions to which something was done, of many the first 200, and where their answers stand."""
    lines, inside = LinePlaces(corpus), folder_of(corpus)
    for entry in entries[:_MOST_SHOWN]:
        print_wrapped(console, _question(entry.query), _KINDS, kind)
        places = [place for answer in entry.answers for place in zip(answer.units, _or(answer), strict=True)]
        for span, label in places[:_MOST_ANSWERS]:
            where = (f"{name_line(inside)}{lines.named(span)}", "cyan")
            print_below(console, label, Text.assemble(where, f" {quoted(span.text)}"))
        if not places:
            print_below(console, "answer", Text("none"))
        if len(places) > _MOST_ANSWERS:
            print_below(console, "", Text(f"… and {len(places) - _MOST_ANSWERS:,} more"))
    if len(entries) > _MOST_SHOWN:
        console.print(Text(f"… and {len(entries) - _MOST_SHOWN:,} more; --changes FILE writes all of them"))


def _or(answer: Answer[CharacterSpan]) -> Iterator[str]:
    """Yield for each span of an answer what stands before it: its places are told apart by "or"."""
    for number, place in enumerate(answer.places):
        yield "or" if number else "answer"
        yield from [""] * (len(place) - 1)


def _show_lost(console: Console, change: LabelChange, inside: str) -> None:
    left = f"; {change.left}" if change.left else ""
    print_wrapped(console, f"{change.was}: {one_line(change.particulars)}{left}", _KINDS, change.kind, "yellow")
    print_below(console, "question", _question(change.query))
    print_below(console, "label", Text(quoted(change.before.text), "dim"))
    nearest = change.found.nearest
    if nearest is None:
        print_below(console, "nearest", Text("nothing similar in the corpus"))
        return
    show_nearest(console, nearest, inside)


def _question(query: Query) -> Text:
    return Text.assemble(f"{one_line(query.text)} ", (f"({name_line(query.id)})", "dim"))


def show_nearest(console: Console, found: Suggestion, inside: str) -> None:
    """Print the passage that is nearest to a quote, where it stands, of many places the first three, and what differs.

    Args:
        console: Where to print.
        found: The passage.
        inside: What stands before a document in the path of its file.
    """
    more = f" and {len(found.copies) - _MOST_PLACES} more" if len(found.copies) > _MOST_PLACES else ""
    where = ", ".join(name_line(f"{inside}{place}") for place in found.copies[:_MOST_PLACES])
    print_below(console, "nearest", Text(quoted(found.quote)))
    print_below(console, "", Text.assemble((f"{where}{more}", "cyan"), f", {found.percent} similar"))
    if found.difference:
        print_below(console, "differs", Text(one_line(found.difference, _LINE)))


def print_below(console: Console, label: str, text: Text) -> None:
    """Print something about what was named before, with a label."""
    print_wrapped(console, text, _LABELS, f"  {label}")
