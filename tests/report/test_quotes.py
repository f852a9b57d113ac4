"""A table of quotes: what to do about each quote that was not located."""

from pathlib import Path

import pytest

from rag_evaluation_framework import Corpus, Document
from rag_evaluation_framework.labels import check_quotes
from rag_evaluation_framework.report import quotes_page
from support.browser import Marks

PAGE = "Press OK. Then wait. Press OK. Then go.\n"


@pytest.fixture
def shown(tmp_path):
    def lines(*quotes, width=120, page=PAGE, **metadata):
        path = tmp_path / "questions.csv"
        path.write_text("\n".join(["question,quote", *(f'What?,"{quote}"' for quote in quotes), ""]))
        corpus = Corpus([Document("a.md", page), Document("b/a.md", PAGE)], metadata=metadata)
        return quotes_page(check_quotes(path, corpus)).as_text(width).splitlines()

    return lines


def test_the_places_of_an_ambiguous_quote_are_those_of_files_that_an_editor_finds(shown):
    assert shown("Press OK.", source="docs") == [
        "0 of 1 quote located, 1 ambiguous, 0 missing; 0 questions without an answer",
        "1 question skipped: fix its quotes",
        "",
        "Ambiguous",
        "  line 2, ambiguous: “Press OK.”",
        "    docs/a.md:1:1, docs/a.md:1:22, docs/b/a.md:1:1 and 1 more: name the document, or quote more; or, if each "
        "of them",
        "    answers the question, write * as the document (init and dataset update: --repeated any, for all rows)",
    ]
    first = "    a.md:1:1, a.md:1:22, b/a.md:1:1 and 1 more: name the document, or quote more; "
    assert any(line.startswith(first) for line in shown("Press OK."))

    # It is told once, also where readers see nothing:
    page = "# Old\n\n<!-- Tapes are kept. -->\n\nOthers are not.\n\n<!-- Tapes are kept. -->\n"
    lines = shown("Tapes are kept.", page=page)
    assert [line for line in lines if line.startswith("  line")] == ["  line 2, ambiguous: “Tapes are kept.”"]
    assert "a.md:3:6" in " ".join(lines)
    assert "a.md:7:6" in " ".join(lines)

    # Those on one page of a PDF have the folder each:
    corpus = Corpus.of(Path(__file__).parents[1] / "corpus/kinds", glob="columns.pdf")
    quote = "Invoices are sent on the first day of the month."
    text = " ".join(quotes_page(check_quotes([{"question": "When?", "quote": quote}], corpus)).as_text(200).split())
    assert text.count("/kinds/columns.pdf, page 1") == text.count("columns.pdf") > 1


@pytest.mark.parametrize("width", [60, 80])
def test_lines_end_where_the_terminal_does_and_have_no_space_there(shown, width):
    lines = shown("Press OK.", "Then wayt. Press OK. Then go.", "Wombats dig.", width=width, source="docs")
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


PAGE_OF_OLD = (
    "# Old\n\n<!-- Tapes are kept for ten years. -->\n\n~~Disks are kept for two years.~~\n\nKeep ~~four~~ five.\n"
)


def test_quotes_that_are_located_where_readers_see_nothing_or_something_struck_out_are_shown(shown):
    quotes = ("Tapes are kept for ten years.", "Disks are kept for two years.", "Keep four five.", "Then go.")
    assert shown(*quotes, page=PAGE_OF_OLD, source="docs") == [
        "4 of 4 quotes located, 0 ambiguous, 0 missing; 0 questions without an answer",
        "",
        "Located, but not shown or struck out",
        "  line 2: “Tapes are kept for ten years.”",
        "    docs/a.md:3:6 is not shown: it stands in a comment, a script or an attribute",
        "  line 3: “Disks are kept for two years.”",
        "    docs/a.md:5:3 is struck out",
        "  line 4: “Keep four five.”",
        "    docs/a.md:7:1 is struck out in part",
    ]
    lines = shown(*["Tapes are kept for ten years."] * 103, page=PAGE_OF_OLD)
    assert (len(lines), lines[-1]) == (12, "  … and 99 more; --html writes a page of all")


def many(path):
    """The check of two thousand quotes: a tenth is missing, a tenth ambiguous, the others located."""
    texts = [f"Rule {number} holds for *parcels* of size {number}, in the {number}th yard." for number in range(2000)]
    corpus = Corpus(
        (
            Document(f"rules/{at}.md", "\n\n".join([*texts[at : at + 100], "Ask the clerk."]))
            for at in range(0, 2000, 100)
        ),
        metadata={"source": "docs"},
    )
    quotes = [text.replace("*", "") for text in texts]
    for number in range(0, 2000, 10):
        quotes[number] = quotes[number].replace("parcels", "letters")
        quotes[number + 1] = "Ask the clerk."
    path.write_text("\n".join(["question,quote", *(f'What <of> {at}?,"{text}"' for at, text in enumerate(quotes))]))
    return check_quotes(path, corpus)


def test_two_thousand_quotes_are_one_screen_the_weakest_first_and_a_page_with_each_in_its_passage(tmp_path):
    check = many(tmp_path / "questions.csv")
    lines = str(check.summary().as_text(80)).splitlines()
    assert len(lines) <= 24
    assert lines[0].startswith("1,600 of 2,000 quotes located, 200 ambiguous, 200 missing")
    assert [line for line in lines if line.endswith(" 200")] == ["Missing 200", "Ambiguous 200"]
    assert lines.count("  … and 198 more; --html writes a page of all") == 2
    assert str(check) == check.summary().as_text()

    page = check._repr_html_()
    marks = Marks(page).marks
    located = [text for role, text in marks if role == "found"]
    assert located[0] == "Rule 2 holds for *parcels* of size 2, in the 2th yard."
    assert (len(located), "more; --html" in page) == (1600, False)
    assert sum(role == "missed" for role, _ in marks) == 200 + 3 * 200  # what may be meant, and three places each
    order = [page.index(f">{title}<") for title in ("Missing", "Ambiguous", "Located")]
    assert order == sorted(order)
    assert page.count("<details>") == 1
    assert ("What &lt;of&gt; 3?" in page, "<of>" in page) == (True, False)
    assert len(page) < 3_000_000


def test_the_missing_are_listed_the_least_similar_first(tmp_path):
    corpus = Corpus([Document("a.md", "Refunds take five working days, and invoices are sent by mail.")])
    quotes = ("Refunds take six working days", "Nothing like it.", "Refunds need nine working weeks")
    (tmp_path / "q.csv").write_text(
        "\n".join(["question,quote", *(f"{at}?,{quote}" for at, quote in enumerate(quotes))])
    )
    shown = str(check_quotes(tmp_path / "q.csv", corpus))
    assert sorted(quotes, key=shown.index) == [quotes[1], quotes[2], quotes[0]]
