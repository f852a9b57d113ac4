import io

import pytest
from rich.console import Console

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.authoring.people import Review
from rag_evaluation_framework.data import REVIEW, Answer
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.datasets.checks.findings import LabelTexts
from rag_evaluation_framework.report import Page, Part, answer_blocks, review_page, show
from rag_evaluation_framework.report.blocks import Passage, Passages

LINES = "one\ntwo\n\nthree four five\n\nsix\nseven\n"


def console(columns=40, colours=False):
    kind = {"force_terminal": True, "color_system": "standard"} if colours else {}
    return Console(file=io.StringIO(), width=columns, markup=False, emoji=False, highlight=False, **kind)


def printed(page):
    return page.file.getvalue()


def excerpt(text, content=LINES, around=2, **kind):
    page, start = console(**kind), content.index(text)
    parts = Part(content[:start], "muted"), Part(text, "found"), Part(content[start + len(text) :], "muted")
    show(page, Passages((Passage(parts),), around=around))
    return printed(page)


def answers(entry, corpus=None, dropped=(), dataset=None, most=200):
    dataset = dataset or Dataset([entry], entry.level, corpus=corpus)
    blocks = answer_blocks(entry, dropped, LabelTexts(dataset, corpus, None), most, 2)
    return Page("", tuple(blocks)).as_text(60).removeprefix("\n") + "\n"


def corpus(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def span(document, content, text):
    start = content.index(text)
    return CharacterSpan(DocumentId(document), start, start + len(text), text)


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("four", {}, "    one\n    two\n  ┃ three »four« five\n    six\n    seven\n"),
        ("two\n\nthree", {}, "    one\n  ┃ »two\n  ┃\n  ┃ three« four five\n    six\n    seven\n"),
        ("four", {"around": 1}, "    two\n  ┃ three »four« five\n    six\n"),
        (
            "four\u202e [bold]x[/bold]",
            {"content": "\x1b[31mred\r\n\tfour\u202e [bold]x[/bold]\rend"},
            "    \N{REPLACEMENT CHARACTER}[31mred\n  ┃     »four\N{REPLACEMENT CHARACTER} [bold]x[/bold]«\n    end\n",
        ),
        (
            "four",
            {"around": 1, "colours": True},
            "    \x1b[2mtwo\x1b[0m\n\x1b[32m  ┃ \x1b[0m\x1b[2mthree \x1b[0m\x1b[1;32mfour\x1b[0m\x1b[2m five\x1b[0m\n"
            "    \x1b[2msix\x1b[0m\n",
        ),
    ],
    ids=[
        "in a line",
        "over two lines",
        "a line around",
        "what acts on a terminal, tabs and line ends",
        "only the text is bold",
    ],
)
def test_an_excerpt_has_the_lines_of_its_document_and_marks_those_of_the_text(text, kind, shown):
    assert excerpt(text, **kind) == shown


def test_of_a_long_text_the_begin_and_the_end_are_shown_and_of_many_places_three_are_named():
    content = f"before begin {'long ' * 100}end behind"
    entry = TokenLevelGroundTruth(Query.from_text("How?"), (span("a.md", content, content[7:-7]),))
    assert answers(entry, corpus(a=content), most=30) == (
        "Answer\n    a.md:1:8\n  ┃ before »begin long long long … (479 characters left out)\n  ┃ … g long end« behind\n"
    )
    texts = dict.fromkeys("abcdef", "Refunds take five days.\n")
    places = [span(f"{name}.md", text, "Refunds take five days.") for name, text in texts.items()]
    shown = answers(TokenLevelGroundTruth(Query.from_text("How long?"), (Answer.any_of(*places),)), corpus(**texts))
    assert shown.endswith("or  d.md:1:1\nor  2 more places\n")


@pytest.mark.parametrize("columns", [1, 5, 12])
def test_an_excerpt_is_printed_however_narrow_the_terminal(columns):
    shown = excerpt("four", columns=columns)
    assert max(map(len, shown.splitlines())) <= max(columns, 5)
    assert "four" in "".join(shown.split()).replace("┃", "")


def test_each_answer_is_shown_in_its_document_with_its_other_places():
    texts = {"a": "Intro.\n\nRefunds take five days.\n", "b": "Refunds take five\ndays.\n", "c": "It takes a week.\n"}
    first = span("a.md", texts["a"], "Refunds take five days.")
    places = (first, span("b.md", texts["b"], "Refunds take five\ndays."), span("c.md", texts["c"], "It takes a week."))
    entry = TokenLevelGroundTruth(
        Query.from_text("How long?"), (Answer.any_of(*places), span("a.md", texts["a"], "Intro."))
    )
    assert answers(entry, corpus(**texts), dropped=(1,)) == (
        "Answer 1 of 2\n    a.md:3:1\n    Intro.\n  ┃ »Refunds take five days.«\nor  b.md:1:1\n"
        "or  c.md:1:1\n  ┃ »It takes a week.«\n\nAnswer 2 of 2, dropped\n    a.md:1:1\n  ┃ »Intro.«\n"
        "    Refunds take five days.\n"
    )


def test_an_answer_that_is_not_at_hand_is_shown_as_the_dataset_quotes_it():
    content = "Intro.\n\nRefunds take five days.\n\nOutro.\n"
    entry = TokenLevelGroundTruth(Query.from_text("How long?"), (span("a.md", content, "Refunds take five days."),))
    there = corpus(a=content)
    alone = Dataset([entry], TOKEN, texts=there.text_hashes, earlier={there["a.md"].content_hash: content})
    assert answers(entry, dataset=alone) == (
        "Answer\n    a.md[8:31]\n    Intro.\n  ┃ »Refunds take five days.«\n    Outro.\n"
    )
    silent = TokenLevelGroundTruth(Query.from_text("How long?"), (CharacterSpan(DocumentId("a.md"), 8, 31),))
    assert answers(silent) == "Answer\n    a.md[8:31], the text is not at hand\n"

    edited = corpus(a="Refunds take two days now, and not more.")
    assert "  ┃ »Refunds take five days.«\n" in answers(entry, edited, dataset=Dataset([entry], TOKEN))
    gone = CharacterSpan(DocumentId("gone.md"), 0, 5)
    assert "the corpus has no document 'gone.md'" in answers(
        TokenLevelGroundTruth(Query.from_text("How?"), (gone,)), edited, dataset=Dataset([entry], TOKEN)
    ).replace("\n    ", " ")


def test_documents_begin_prefixes_name_their_documents_and_a_question_without_an_answer_says_so():
    entry = DocumentLevelGroundTruth(Query.from_text("Where?"), ("a.md", "z.md"), ("b",))
    shown = answers(entry, corpus(a="\n# Title\n\nText.", b="B", bb="BB"), dataset=Dataset([entry], DOCUMENT))
    assert shown == (
        "Answer 1 of 3\n    a.md\n  ┃ »# Title\n  ┃\n  ┃ Text.«\n\nAnswer 2 of 3\n"
        "    z.md, the corpus has no document 'z.md'\n\nAnswer 3 of 3\n"
        "    b*, any document whose id begins with it: b.md, bb.md\n"
    )
    assert ", the text is not at hand" in answers(entry)
    told = answers(TokenLevelGroundTruth(Query.from_text("Who?"), ()), corpus(a="A"))
    assert " ".join(told.split()) == "No answer The dataset says that nothing in the documents answers it."


def reviewed(query, review=None, findings=(), columns=200):
    return review_page(query, review or Review(), findings).as_text(columns) + "\n"


def test_what_is_known_of_a_question_its_review_and_its_findings_are_shown():
    metadata = {"model": {"name": "m"}, "source_docs": ["a.md", "b.md"], "strategy": "simple", REVIEW: {"wording": "x"}}
    known = "  id: q1, strategy: simple, source_docs: a.md, b.md, model: {'name': 'm'}\n"  # what tells most is first
    assert reviewed(Query("q1", "Who?\n\x1b[31m", metadata)) == f"Who? \N{REPLACEMENT CHARACTER}[31m\n{known}"

    text = "Do refunds take five working days after approval?"
    entry = TokenLevelGroundTruth(
        Query.from_text(text), (CharacterSpan(DocumentId("a.md"), 0, len(text) - 4, text[3:-1]),)
    )
    findings = lint_dataset(Dataset([entry], TOKEN)).problems
    shown = reviewed(entry.query, Review("dropped", "Which?"), findings)
    assert shown.startswith(f"Which?\n  reworded; it was: {text}\n  dropped; s keeps that\n  id: query_")
    assert "\n  warning: copies its answer: " in shown
    assert "reworded; it was: Before?" in reviewed(entry.query, Review(earlier_wording="Before?"))


def test_a_reviewed_question_is_one_page_with_its_answers_in_html_too():
    content = "Intro.\r\nRefunds take <b>five</b> days.\r\nOutro."
    entry = TokenLevelGroundTruth(Query.from_text("How <long>?"), (span("a.md", content, "take <b>five</b>"),))
    blocks = answer_blocks(entry, (), LabelTexts(Dataset([entry], TOKEN), corpus(a=content), None), 200, 2)
    html = review_page(entry.query, Review("accepted"), [], blocks).as_html()
    assert "<h1>How &lt;long&gt;?</h1>" in html
    assert "accepted; s keeps that" in html
    assert 'Intro.\nRefunds </span><mark class="found">take &lt;b&gt;five&lt;/b&gt;</mark>' in html
