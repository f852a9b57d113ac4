"""A table of quotes that meets a dataset that has its labels already."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, check_quotes
from rag_evaluation_framework.labelling import add_questions, relabel

TEXT = "Students get a discount of 40 % on the plan."
TODAY = f"# Pricing\n\nPrices of today.\n\nTeam is 29 EUR a month.\n\n{TEXT}\n"
EARLIER = f"# Pricing\n\nPrices of the year 2024.\n\nTeam is 24 EUR a month.\n\n{TEXT}\n"


def corpus_of(**texts):
    return Corpus(Document(DocumentId(name), text) for name, text in texts.items())


def table(tmp_path, document, quote=TEXT):
    path = tmp_path / "questions.csv"
    path.write_text(f'question,quote,document\nIs there a discount?,"{quote}",{document}\n')
    return path


def updated(tmp_path, before, after, first, again=None, quote=TEXT):
    """The document of the label when the dataset meets its own table again, and how the question is counted."""
    was, now = corpus_of(**before), corpus_of(**after)
    dataset = check_quotes(table(tmp_path, first), was).dataset()
    additions = add_questions(
        relabel(dataset, now).dataset, check_quotes(table(tmp_path, again or first, quote), now), now
    )
    (entry,) = additions.dataset
    return entry.relevant[0].doc_id, len(additions.corrected), len(additions.kept)


BOTH = {"pricing.md": TODAY, "archive/pricing.md": EARLIER}


@pytest.mark.parametrize(
    ("after", "first", "where"),
    [
        ({"prices.md": TODAY, "archive/pricing.md": EARLIER}, "pricing.md", "prices.md"),
        ({"pricing.md": TODAY, "archive-2024/pricing.md": EARLIER}, "archive/pricing.md", "archive-2024/pricing.md"),
        ({**BOTH, "terms.md": f"# Terms\n\n{TEXT}\n"}, "pricing.md", "pricing.md"),
    ],
    ids=["renamed", "folder renamed", "copied elsewhere"],
)
def test_a_label_stays_where_it_was_found_by_whatever_name_the_table_calls_its_document(tmp_path, after, first, where):
    assert updated(tmp_path, BOTH, after, first) == (where, 0, 1)


@pytest.mark.parametrize("name", ["", "pricing", "prices.md", "docs/prices.md"])
def test_also_by_a_part_of_the_name_or_none(tmp_path, name):
    after = {"prices.md": TODAY, "archive/pricing.md": EARLIER}
    assert updated(tmp_path, BOTH, after, "pricing.md", name) == ("prices.md", 0, 1)


def test_a_row_that_names_another_document_as_it_is_called_now_moves_the_label(tmp_path):
    assert updated(tmp_path, BOTH, BOTH, "pricing.md", "archive/pricing.md") == ("archive/pricing.md", 1, 0)
    assert updated(tmp_path, BOTH, BOTH, "archive/pricing.md", "pricing.md") == ("pricing.md", 1, 0)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "archive").mkdir(parents=True)
    for name, text in BOTH.items():
        (tmp_path / "docs" / name).write_text(text)
    return Corpus.from_folder(tmp_path / "docs")


@pytest.mark.parametrize(
    "name",
    [
        "archive/pricing.md",
        "./archive/pricing.md",
        "docs/archive/pricing.md",
        "/x/docs/archive/pricing",
        r"archive\pricing.md",
    ],
)
def test_however_it_is_written(tmp_path, folder, name):
    dataset = check_quotes(table(tmp_path, "docs/pricing.md"), folder).dataset()
    (entry,) = dataset
    assert entry.relevant[0].doc_id == "pricing.md"
    additions = add_questions(dataset, check_quotes(table(tmp_path, name), folder), folder)
    (entry,) = additions.dataset
    assert (entry.relevant[0].doc_id, len(additions.corrected)) == ("archive/pricing.md", 1)
    again = add_questions(additions.dataset, check_quotes(table(tmp_path, name), folder), folder)
    assert (len(again.corrected), len(again.kept)) == (0, 1)


@pytest.mark.parametrize("name", ["zz.md", "archve/terms.md"])
def test_a_document_that_is_not_there_is_told_and_moves_nothing(tmp_path, folder, name):
    dataset = check_quotes(table(tmp_path, "docs/pricing.md"), folder).dataset()
    additions = add_questions(dataset, check_quotes(table(tmp_path, name), folder), folder)
    assert [row.status for row in additions.check.rows] == ["missing"]
    assert (additions.dataset.queries, len(additions.kept)) == (dataset.queries, 1)


@pytest.mark.parametrize(
    ("names", "now"),
    [
        (("v1/l.md", "v2/l.md"), ("one.md", "two.md")),
        (("v1/l.md", "v2/l.md"), ("v2/l.md", "v3/l.md")),
        (("a.md", "b.md"), ("a.md", "c.md")),
    ],
    ids=["renamed", "next version", "one renamed"],
)
def test_two_labels_with_one_text_stay_two(tmp_path, names, now):
    path = tmp_path / "questions.csv"
    rows = "".join(f'Is there a discount?,"{TEXT}",{name}\n' for name in names)
    path.write_text(f"question,quote,document\n{rows}")
    pages = (f"# One\n\nThe first of all.\n\n{TEXT}\n\nThe end of it.\n", f"# Two\n\n{TEXT}\n\nThat is another one.\n")
    was, later = (corpus_of(**dict(zip(called, pages, strict=True))) for called in (names, now))
    found = relabel(check_quotes(path, was).dataset(), later)
    additions = add_questions(found.dataset, check_quotes(path, later), later)
    (entry,) = additions.dataset
    assert ({span.doc_id for span in entry.relevant}, len(additions.corrected)) == (set(now), 0)


def test_another_quote_moves_the_label(tmp_path):
    assert updated(tmp_path, BOTH, BOTH, "pricing.md", quote="Team is 29 EUR a month.")[1:] == (1, 0)


def test_the_rows_of_settled_labels_are_no_problems(tmp_path):
    corpus = corpus_of(**BOTH)
    dataset = check_quotes(table(tmp_path, "pricing.md"), corpus).dataset()
    check = check_quotes(table(tmp_path, ""), corpus)
    assert [row.status for row in check.rows] == ["ambiguous"]
    assert [row.status for row in add_questions(dataset, check, corpus).check.rows] == ["located"]


def test_a_lost_label_does_not_come_back_by_its_own_quote_below_another_question(tmp_path):
    page = "# FAQ\n\n## How long are backups kept?\n\n{}\n\n## How long are logs kept?\n\n{}\n"
    was, now = (
        corpus_of(**{"faq.md": page.format(*days)}) for days in (("30 days.", "90 days."), ("90 days.", "30 days."))
    )
    path = tmp_path / "questions.csv"
    path.write_text(
        "question,quote,document\nHow long are backups kept?,30 days.,faq.md\nHow long are logs kept?,90 days.,faq.md\n"
    )
    found = relabel(check_quotes(path, was).dataset(), now)
    assert [change.kind for change in found.changes] == ["lost", "lost"]
    additions = add_questions(found.dataset, check_quotes(path, now), now)
    assert (len(additions.dataset), additions.added) == (0, ())
    assert (
        "to take what it says there for its answer, quote more of it, or another text" in additions.check.rows[0].reason
    )
    path.write_text(
        'question,quote,document\nHow long are backups kept?,"## How long are backups kept?\n\n90 days.",\n'
    )
    assert len(add_questions(found.dataset, check_quotes(path, now), now).added) == 1


def test_a_suggestion_names_a_document_only_if_it_stands_in_one(tmp_path):
    corpus = corpus_of(**BOTH, **{"terms.md": "# Terms\n\nNothing of it.\n"})
    check = check_quotes(table(tmp_path, "terms.md"), corpus)
    assert [row.suggestion is not None for row in check.rows] == [True]
    assert '"terms.md","suggestion' in check.save_suggestions().read_text()


def test_a_name_of_several_documents_is_told_to_be_ambiguous(tmp_path):
    corpus = corpus_of(**{"v1/pricing.md": TODAY, "v2/pricing.md": "# Pricing\n\nNothing of it.\n"})
    (row,) = check_quotes(table(tmp_path, "pricing.md"), corpus).rows
    assert (row.status, row.suggestion) == ("missing", None)
    assert "document 'pricing.md' is ambiguous: v1/pricing.md or v2/pricing.md; write the full path" in row.reason
