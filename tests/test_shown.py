"""Whatever is shown: texts from outside act on no terminal, page or notebook, and none is endless.

Every public way of showing gets poison wherever a text can come from outside.
"""

import io
import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import report
from rag_evaluation_framework.base.outside import json_text, one_line
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import Chunk
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.labels import check_quotes
from rag_evaluation_framework.report.html import whole_file
from support.pages import lines, table
from support.poison import HARMFUL, POISON, words

METRIC = "m<b>|*x*`~~s~~[bold]_y_"
LONG = 100_000
CHUNK = Chunk(POISON, POISON, POISON)


class Poisoned(rag.TokenLevelMetric):
    name = METRIC

    def calculate(self, retrieved, ground_truth):
        if any(span.doc_id == "fails" for span in ground_truth):
            raise ArithmeticError(POISON)
        return 0.5


def made(poison):
    """A result in which every text is this one, and its dataset and corpus."""
    corpus = rag.Corpus(
        [rag.Document(poison, f"first {poison}"), rag.Document("fails", "second")], {"source": poison, poison: poison}
    )
    questions = [("ok", 5, poison), ("lost", 5, poison), ("fails", 6, "fails")]
    entries = [
        rag.TokenLevelGroundTruth(
            rag.Query(f"{kind} {poison}", f"{kind} {poison}", {poison: poison}),
            [rag.CharacterSpan(document, 0, length)],
        )
        for kind, length, document in questions
    ]
    dataset = rag.Dataset(entries, rag.TOKEN, name=poison, corpus=corpus, metadata={poison: poison})

    def search(query, k):
        rag.note(f"noted {poison}")
        if query.startswith("lost"):
            raise ConnectionError(f"gone {poison}")
        return [
            {"doc_id": poison, "start": 0, "end": 3, "chunk_id": poison},
            {"text": f"nowhere {poison}", "chunk_id": poison},
        ]

    search.__qualname__ = poison
    with warnings.catch_warnings(action="ignore"):
        result = rag.evaluate(search, dataset, metrics=[Poisoned(), rag.SpanRecall()], k=2)
    return replace(result, name=poison), dataset, corpus


@pytest.fixture(scope="module")
def poisoned():
    return made(POISON)


@pytest.fixture(scope="module")
def comparison(poisoned):
    result, _, _ = poisoned
    table = result.queries.table
    column = {name: scores.copy() for name, scores in table.columns.items()}
    for scores in column.values():
        scores[0] = 0.0
    other = replace(table, query_ids=(*table.query_ids[:2], f"new {POISON}"), failures={}, columns=column)
    return result.compare(replace(result, queries=replace(result.queries, table=other)))


@pytest.fixture(scope="module")
def quotes(poisoned, tmp_path_factory):
    _, _, corpus = poisoned
    file = tmp_path_factory.mktemp("quotes") / "q.jsonl"
    rows = [
        {"question": POISON, "quote": POISON, "document": POISON},
        {"question": f"2 {POISON}", "quote": f"other {POISON}", "document": "fails"},
        {"question": f"3 {POISON}", "quote": "e", "document": ""},
        {"question": f"4 {POISON}", "quote": "x", "document": f"no {POISON}"},
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return check_quotes(file, corpus)


def terminal(show, *arguments, **options):
    """What a terminal gets of a way to show something."""
    file = io.StringIO()
    show(Console(file=file, width=200, **options), *arguments)
    return file.getvalue()


def shown_in_python(poisoned, comparison, quotes):
    """Every object with texts from outside that is public, and how it is shown."""
    result, dataset, corpus = poisoned
    queries = result.queries
    objects = {
        "result": result,
        "comparison": comparison,
        "check": quotes,
        "row": quotes.rows[1],
        "dataset": dataset,
        "corpus": corpus,
        "document": corpus[POISON],
        "query": dataset.ground_truth[0].query,
        "truth": dataset.ground_truth[0],
        "span": result.queries[0].relevant[0],
        "queries": queries,
        "question": queries[0],
        "failed question": queries[1],
        "hit": queries[0].hits[0],
        "hits": queries.hits,
        "hit table": queries.hits.table,
        "scores": result.scores,
        "failure": queries[1].failures[0],
        "metric": Poisoned(),
        "retriever": FunctionRetriever(lambda query, k: []),
        "chunk": CHUNK,
        "placed chunk": rag.PositionAwareChunk(POISON, POISON, POISON, 0, len(POISON)),
        "registry": rag.ChunkRegistry([CHUNK]),
        "summary": result.summary(),
    }
    yield from ((f"repr of {name}", repr(thing)) for name, thing in objects.items())
    yield from ((f"str of {name}", str(thing)) for name, thing in objects.items())
    yield "text", result.summary().as_text()
    yield "text of a comparison", comparison.summary().as_text()
    yield "page of quotes", quotes.summary(whole=True).as_text()
    yield "HTML", result._repr_html_()
    yield "HTML of a comparison", comparison._repr_html_()
    yield "Markdown", result.summary().as_markdown()
    yield "Markdown of a comparison", comparison.summary().as_markdown()
    yield "terminal", terminal(report.show, result.summary())
    yield "weakest", terminal(report.show, report.result_page(result, corpus, 9))
    yield "several", terminal(report.show, rag.compare(result, result, result).summary())
    yield "file", whole_file(report.result_page(result, corpus, 9))
    yield "quotes", terminal(report.show, report.quotes_page(quotes))
    yield "error", str(RagEvalError(POISON))


def test_nothing_that_is_shown_acts_on_a_terminal(poisoned, comparison, quotes):
    shown = [*shown_in_python(poisoned, comparison, quotes)]
    assert {name: found for name, text in shown if (found := HARMFUL.findall(text))} == {}
    for name, text in shown:
        assert text.encode(), name  # it can be written as UTF-8
    terminals = {name: " ".join(text.split()) for name, text in shown if name in TERMINALS}
    markup = [name for name, text in terminals.items() if "[bold]b[/bold]" in text and ":smile:" in text]
    assert markup == [*TERMINALS]  # it is shown as it is


TERMINALS = ("terminal", "weakest", "several", "quotes")
POINTS = {"x1", "x2", "y1", "y2", "cx", "cy", "r"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"class", "scope", "viewbox", "role", "aria-label", *POINTS}

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("of", ["result", "comparison"])
def test_in_html_texts_are_texts(poisoned, comparison, of):
    page = Tags()
    page.feed({"result": poisoned[0], "comparison": comparison}[of]._repr_html_())
    drawn = {"svg", "line", "circle"}
    own = {"div", "style", "h1", "h2", "p", "span", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "wbr"}
    assert page.tags <= own | drawn
    assert any(words(POISON) in text for text in page.texts)


def rendered(markdown):
    """The texts of a page of Markdown, block by block, and which of its tokens are not of our own layout."""
    own = {"heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item", "inline"}
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    strange = [token.type for token in tokens if re.sub("_(open|close)$", "", token.type) not in own]
    texts = []
    for token in tokens:
        strange += [child.type for child in token.children or () if child.type not in ("text", *own_inside(child))]
        if token.type == "inline":
            texts.append("".join(child.content for child in token.children))
    return texts, strange


def own_inside(token):
    """The marks of a verdict and of what stands before a line, and drawn intervals."""
    drawn = token.type == "code_inline" and not re.sub("[·├─┤●┊]", "", token.content)
    return ("strong_open", "strong_close", *(["code_inline"] * drawn))


@pytest.mark.parametrize("of", ["result", "comparison"])
def test_a_page_of_markdown_holds_the_words_and_nothing_but_them(poisoned, comparison, of):
    summary = {"result": poisoned[0], "comparison": comparison}[of].summary()
    texts, strange = rendered(summary.as_markdown())
    assert not strange
    scores = table(summary, "Scores")
    told = [line.removeprefix("! ") for line in lines(summary)]
    assert {summary.title, *told, *(cell for row in (scores.header, *scores.rows) for cell in row)} <= set(texts)
    assert any(words(POISON) in text for text in texts)


BLOCKS = [
    *("# h", "- a", "+ a", "* a", "1. a", "23) a", "> q", "---", "***", "___", "===", "```", "~~~", "    code"),
    *("| a | b |", "[a]: b", "<div>", "<!-- x", "&copy;", "a  ", "a\\", ": d", "[x] t", "- [ ] t", "= a", "$$", "==="),
    *("http://a.b", "www.a.b", "![i](u)", "[^1]: n", "\\# h", "_a_", "__a__", "*a*", "`a`", "~~a~~", "1.", "-", "a\tb"),
]


@pytest.mark.parametrize("text", BLOCKS)
def test_markdown_makes_nothing_of_a_text_wherever_it_stands(text):
    page = report.Page(
        text,
        (
            report.Lines((report.line(text), report.line(text))),
            report.Lines((report.line(text, indent=2), report.line(text, indent=4)), text),
            report.Table((text, text), ((text, text),), text, (text,)),
        ),
    )
    texts, strange = rendered(page.as_markdown())
    assert not strange
    assert texts.count(one_line(text)) == 1 + 2 + 3 + 6


def test_what_is_in_words_stays_readable_in_markdown_and_an_address_is_no_link_of_github():
    title = "span_recall@5 of my-data (v1.2)"
    assert report.Page(title, ()).as_markdown().startswith(f"# {title}\n")
    for text in ("http://a.b", "www.a.b", "https://a.b/c?d=1"):
        assert text not in report.Page(text, (report.Lines((report.line(text),)),)).as_markdown()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_json_on_a_terminal_is_harmless_and_equal(ascii_only):
    value = {POISON: [POISON, 1.5, None], "naïve ✓": "漢字"}
    text = json_text(value, ascii_only=ascii_only)
    assert not HARMFUL.search(text)
    assert json.loads(text) == value
    assert ("漢字" in text) is not ascii_only


def test_a_warning_in_python_is_fit_to_be_shown():
    with pytest.warns(UserWarning, match="poison") as caught:
        rag.note(f"{POISON} of http://me:pass@host and <function f at 0x7f0123456789>")
    text = str(caught[0].message)
    assert not HARMFUL.search(text)
    assert text.endswith("of http://***@host and <function f>")


def test_what_is_shown_of_long_texts_is_bounded():
    long = "x" * LONG
    result, _, corpus = made(long)
    summary = result.summary()
    showings = [
        *(repr(result), str(result.queries[0]), result._repr_html_()),
        *(summary.as_markdown(), summary.as_text(), terminal(report.show, result.summary())),
        *(terminal(report.show, report.result_page(result, corpus, 9)), repr(result.compare(result))),
        repr(rag.compare(result, result, result)),
    ]
    assert [len(text) for text in showings if len(text) > LONG / 4] == []
    assert all("characters left out" in " ".join(text.split()) for text in showings)


def test_notes_and_rows_that_are_many_are_counted(poisoned, quotes):
    # Of many notes the first are shown and the others counted:
    result, _, _ = poisoned
    noted = replace(result, notes=tuple(f"note {number}" for number in range(1000)))
    for text in (repr(noted), noted._repr_html_(), noted.summary().as_markdown()):
        assert text.count("note ") <= 30
        assert re.search(r"\d+ more notes", text)

    # Of many rows of quotes the first are shown and the others counted:
    many = replace(quotes, rows=quotes.rows * 1000)
    for text in (str(many), terminal(report.show, many.summary(whole=False))):
        assert text.count("missing:") <= 300
        assert re.search(r"… and \d,\d+ more", text)
