"""What became of one labelled span, in words and as files hold it; what becomes of it is in test_reanchor."""

import pytest

from rag_evaluation_framework import TOKEN, CharacterSpan, Corpus, Dataset, Document, Query, TokenLevelGroundTruth
from rag_evaluation_framework.labelling import LabelChange, Reanchored, relabel
from rag_evaluation_framework.text.line_places import LinePlaces

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"# Billing\n\n{FIRST} {SECOND} Write to us.\n"


def corpus_of(**texts):
    return Corpus(Document(f"{name}.md", text) for name, text in texts.items())


def changed(after, *labels, before=PAGE):
    """What became of labels of `a.md`, each a question and a text, and the places in the edited corpus."""
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(asked), [CharacterSpan("a.md", before.index(text), before.index(text) + len(text), text)]
        )
        for asked, text in labels
    ]
    found = relabel(Dataset(entries, TOKEN, corpus=corpus_of(a=before)), after)
    return *found.changed, LinePlaces(after)


def test_what_was_ignored_is_told_in_lines_and_records():
    change, lines = changed(corpus_of(a=PAGE.replace("five", "**five**")), ("Who?", SECOND))
    assert (change.kind, change.particulars) == ("in normal form", "ignoring: emphasis")
    assert change.line(lines).startswith("in normal form a.md[47:95] → a.md:3:37 “Refunds take five")
    assert change.line(lines).endswith("” (ignoring: emphasis)")
    assert change.record(lines)["how"] == "in normal form, ignoring: emphasis"


def test_what_moved_has_its_new_place_and_no_particulars():
    change, lines = changed(corpus_of(b=f"New.\n{PAGE}"), ("When?", FIRST))
    assert (change.kind, change.particulars, change.was) == ("renamed", "", "a.md[11:46]")
    assert change.line(lines) == f"renamed a.md[11:46] → b.md:4:1 “{FIRST}”"
    record = change.record(lines)
    assert record["to"] == {"doc_id": "b.md", "start": 16, "end": 51, "line": 4, "text": FIRST}
    assert (record["from"], record["nearest"]) == ({"doc_id": "a.md", "start": 11, "end": 46}, None)


def test_what_was_lost_is_told_with_the_nearest_text_its_similarity_and_in_what_it_differs():
    change, lines = changed(corpus_of(b=f"New.\n{PAGE.replace('five', 'six')}"), ("How\nlong?", SECOND))
    nearest = "nearest (94 % similar): b.md:4:37 “Refunds take six working days in all countries.”; “five” for “six”"
    why = "its document a.md is gone and its text is in no other"
    assert change.line(lines) == f"lost a.md[47:95] “{SECOND}” of “How long?”: {why}; {nearest}"
    assert change.reason == f"lost: {why}; {nearest}"
    told = change.record(lines)["nearest"]
    assert (told["doc_id"], told["line"], told["difference"]) == ("b.md", 4, "“five” for “six”")
    assert told["similarity"] == change.found.nearest.similarity == 0.9474


def test_markup_is_no_difference():
    before = PAGE.replace("five", "**five**")
    label = SECOND.replace("five", "**five**")
    after = corpus_of(a=PAGE.replace("working days", "`working` [weeks](weeks.html)"))
    change, _ = changed(after, ("How long?", label), before=before)
    assert change.found.nearest.difference == "“days” for “weeks”"


def test_a_text_that_stands_elsewhere_differs_in_nothing_and_the_reason_names_its_places():
    change, lines = changed(corpus_of(a=f"New.\n{PAGE}{PAGE}"), ("How long?", SECOND))
    assert (change.found.nearest.similarity, change.found.nearest.difference) == (1.0, "")
    assert change.record(lines)["nearest"]["difference"] == ""
    assert change.reason == ("lost: it now stands in several places (a.md[52:100], a.md[161:209])")


def test_where_nothing_is_similar_that_is_told():
    change, lines = changed(corpus_of(b="?"), ("When?", FIRST))
    assert (change.found.nearest, change.record(lines)["nearest"]) == (None, None)
    assert change.line(lines).endswith("; nothing similar in the corpus")


@pytest.mark.parametrize(("how", "particulars"), [("unchanged", ""), ("moved", "moved")])
def test_a_label_that_is_back_where_it_was_has_no_particulars(how, particulars):
    span = CharacterSpan("a.md", 11, 46, FIRST)
    change = LabelChange(Query.from_text("When?"), span, Reanchored(None, span, how), was_skipped=True)
    assert (change.kind, change.particulars) == ("back", particulars)


def test_what_differs_is_never_shown_as_the_same():
    text = f"{' '.join(f'word{number}' for number in range(60))} five"
    after = corpus_of(a=f"{text[:-4]}fife and more.")
    change, lines = changed(after, ("When?", text), before=f"{text} and more.")
    assert 0.995 < change.found.nearest.similarity < 1
    assert "nearest (99 % similar)" in change.line(lines)
