"""What became of labels and questions, in a terminal of any width."""

import io

import pytest
from rich.console import Console
from tests.support.poison import HARMFUL, POISON

from rag_evaluation_framework import TOKEN, CharacterSpan, Corpus, Dataset, Document, Query, TokenLevelGroundTruth
from rag_evaluation_framework.labelling import relabel
from rag_evaluation_framework.report import show_changes, show_questions

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"{FIRST} {SECOND} Write to us.\n"


def shown(show, *arguments, width=100):
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    show(console, *arguments)
    return console.file.getvalue().splitlines()


def corpus_of(text, **metadata):
    return Corpus([Document("a.md", text)], metadata=metadata)


def changes(after, *texts, asked="When?"):
    spans = [CharacterSpan("a.md", PAGE.index(text), PAGE.index(text) + len(text), text) for text in texts]
    entries = [TokenLevelGroundTruth(Query(f"q{number}", asked), [span]) for number, span in enumerate(spans)]
    return relabel(Dataset(entries, TOKEN, corpus=corpus_of(PAGE)), after).changed


def test_lost_labels_come_first_with_what_is_needed_to_label_them_again():
    after = corpus_of(f"# New\n\n{PAGE.replace('five', 'six')}", source="docs")
    assert shown(show_changes, changes(after, FIRST, SECOND), after) == [
        "lost           a.md[36:84]: its text is gone",
        "  question  When? (q1)",
        f"  label     “{SECOND}”",
        f"  nearest   “{SECOND.replace('five', 'six')}”",
        "            docs/a.md:3:37, 94 % similar",
        "  differs   “five” for “six”",
        f"moved          a.md[0:35] → docs/a.md:3:1 “{FIRST}”",
    ]


def test_a_label_to_which_nothing_is_similar_says_so():
    after = corpus_of("Nothing else.")
    assert shown(show_changes, changes(after, FIRST), after)[-1] == "  nearest   nothing similar in the corpus"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_are_as_long_as_the_terminal_is_wide_and_begin_below_each_other(width):
    after = corpus_of(f"# New\n\n{PAGE.replace('five', '**six**')}", source="docs")
    lines = shown(show_changes, changes(after, FIRST, SECOND), after, width=width)
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    beginnings = ("lost", "  question", "  label", "  nearest", "  differs", "moved")
    assert all(line.startswith((*beginnings, " " * 12)) for line in lines)


def asked_at(query_id, corpus, *texts):
    content = corpus.documents[0].content
    spans = [CharacterSpan("a.md", content.index(text), content.index(text) + len(text), text) for text in texts]
    return TokenLevelGroundTruth(Query(query_id, query_id), spans)


def test_questions_are_shown_with_the_places_of_their_answers_of_many_the_first_three():
    corpus = corpus_of(f"# New\n\n{PAGE}", source="docs")
    entries = [asked_at("both", corpus, FIRST, SECOND), asked_at("none", corpus), asked_at("many", corpus, *"acsno")]
    assert shown(show_questions, "added", entries, corpus) == [
        "added          both (both)",
        f"  answer    docs/a.md:3:1 “{FIRST}”",
        f"  answer    docs/a.md:3:37 “{SECOND}”",
        "added          none (none)",
        "  answer    none",
        "added          many (many)",
        f"  answer    docs/a.md:3:{PAGE.index('a') + 1} “a”",
        f"  answer    docs/a.md:3:{PAGE.index('c') + 1} “c”",
        f"  answer    docs/a.md:3:{PAGE.index('s') + 1} “s”",
        "            … and 2 more",
    ]


def test_of_many_changes_and_questions_the_first_are_shown_and_the_others_counted():
    after = corpus_of(f"# New\n\n{PAGE}")
    many = changes(after, FIRST) * 1201
    assert (len(lines := shown(show_changes, many, after)), lines[-1]) == (
        201,
        "… and 1,001 more; --changes FILE writes all of them",
    )
    entries = [TokenLevelGroundTruth(Query(f"q{number}", "Who?"), []) for number in range(202)]
    lines = shown(show_questions, "added", entries, after)
    assert (lines[0], lines[-1]) == (
        "added          Who? (q0)",
        "… and 2 more; --changes FILE writes all of them",
    )


def test_nothing_of_it_acts_on_a_terminal():
    after = corpus_of(f"# New {POISON}\n\n{FIRST}{POISON}{PAGE.replace('five', POISON)}", source=POISON)
    text = "\n".join(shown(show_changes, changes(after, FIRST, SECOND, asked=POISON), after, width=400))
    assert not HARMFUL.search(text)
    assert "[bold]b[/bold]" in text
    assert not HARMFUL.search("\n".join(shown(show_questions, "added", [asked_at(POISON, after, POISON)], after)))
