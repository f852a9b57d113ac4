"""What became of labels and questions, on a page of any width."""

from dataclasses import replace

import pytest

from rag_evaluation_framework import TOKEN, CharacterSpan, Corpus, Dataset, Document, Query, TokenLevelGroundTruth
from rag_evaluation_framework.labels import Additions, QuoteCheck, relabel
from rag_evaluation_framework.report import Page, change_passages, update_page

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"{FIRST} {SECOND} Write to us.\n"


def lines(page, width=100):
    return page.as_text(width).splitlines()


def corpus_of(text, **metadata):
    return Corpus([Document("a.md", text)], metadata=metadata)


def found(after, *texts):
    spans = [CharacterSpan("a.md", PAGE.index(text), PAGE.index(text) + len(text), text) for text in texts]
    entries = [TokenLevelGroundTruth(Query(f"q{number}", "When?"), [span]) for number, span in enumerate(spans)]
    return relabel(Dataset(entries, TOKEN, name="bills", corpus=corpus_of(PAGE)), after)


def test_labels_to_look_at_come_first_with_what_differs_and_the_words_of_those_that_are_gone():
    after = corpus_of(f"# New\n\n{PAGE.replace('five', 'six')}", source="docs")
    changed = found(after, FIRST, SECOND)
    (change,) = (change for change in changed.changes if not change.is_found)
    assert lines(update_page(changed, after, written=["Wrote bills.json"])) == [
        "bills, in docs",
        "2 labels: 0 unchanged, 1 moved, 1 changed; 1 question skipped",
        "The dataset has 1 question, 1 with an answer; 1 more is skipped",
        "--take ID makes a label what stands there now.",
        "Wrote bills.json",
        "",
        "Changed",
        f"    {change.id} docs/a.md:3:37, changed: When?",
        f"    {FIRST} {SECOND.replace('five', '[-five-] {+six+}')}",
        "    Write to us.",
        "",
        "Labels found again",
        f"moved          a.md[0:35] → docs/a.md:3:1 “{FIRST}”",
    ]
    nothing = corpus_of("Nothing else.")
    assert any(f"[-{FIRST}-]" in shown for shown in lines(update_page(found(nothing, FIRST), nothing)))


@pytest.mark.parametrize("width", [60, 80])
def test_lines_are_as_long_as_the_terminal_is_wide_and_begin_below_each_other(width):
    after = corpus_of(f"# New\n\n{PAGE.replace('five', '**six**')}", source="docs")
    shown = lines(update_page(found(after, FIRST, SECOND), after), width)
    assert max(map(len, shown)) <= width
    begin = shown.index("Labels found again") + 1
    assert shown[begin].startswith("moved          a.md[0:35]")
    assert all(line.startswith(" " * 15) for line in shown[begin + 1 :])


def asked_at(query_id, corpus, *texts):
    content = corpus.documents[0].content
    spans = [CharacterSpan("a.md", content.index(text), content.index(text) + len(text), text) for text in texts]
    return TokenLevelGroundTruth(Query(query_id, query_id), spans)


def added_to(corpus, *entries):
    """The page of a dataset without labels to which questions are added."""
    before = relabel(Dataset([], TOKEN, corpus=corpus), corpus)
    dataset = replace(before.dataset, ground_truth=entries)
    added = Additions(dataset, dataset.queries, (), (), (), QuoteCheck("more.csv", corpus, (), ()))
    return update_page(before, corpus, added)


def test_questions_are_shown_with_the_places_of_their_answers_of_many_the_first_three():
    corpus = corpus_of(f"# New\n\n{PAGE}", source="docs")
    entries = [asked_at("both", corpus, FIRST, SECOND), asked_at("none", corpus), asked_at("many", corpus, *"acsno")]
    assert lines(added_to(corpus, *entries))[4:] == [
        "Added",
        "  both (both)",
        f"    docs/a.md:3:1 “{FIRST}”",
        f"    docs/a.md:3:37 “{SECOND}”",
        "  none (none)",
        "    no answer in the corpus",
        "  many (many)",
        f"    docs/a.md:3:{PAGE.index('a') + 1} “a”",
        f"    docs/a.md:3:{PAGE.index('c') + 1} “c”",
        f"    docs/a.md:3:{PAGE.index('s') + 1} “s”",
        "    … and 2 more",
    ]


def test_of_many_changes_and_questions_the_first_are_shown_and_the_others_counted():
    after = corpus_of(f"# New\n\n{PAGE}")
    many = found(after, FIRST)
    shown = lines(update_page(replace(many, changes=many.changes * 1201), after))
    begin = shown.index("Labels found again 1,201")
    assert (len(shown) - begin, shown[-1]) == (6, "  … and 1,197 more; --html writes a page of all")
    shown = lines(added_to(after, *(TokenLevelGroundTruth(Query(f"q{number}", "Who?"), []) for number in range(202))))
    assert (shown[5], shown[-1]) == ("  Who? (q0)", "  … and 198 more; --html writes a page of all")


def many_edits():
    """Two thousand labels: a fifth gone, a fifth changed, a fifth on a page that was rewritten in half, and moved."""
    texts = [f"Rule {number} holds for parcels of size {number} in the {number}th yard." for number in range(2000)]
    edited = [
        *(text for text in texts[:1200]),
        *(text.replace("parcels", "letters") for text in texts[1200:1600]),
    ]
    before, after = corpus_of("\n\n".join(texts)), corpus_of("\n\n".join(["# New", *edited]), source="docs")
    content, entries = before["a.md"].content, []
    for number, text in enumerate(texts):
        begin = content.index(text)
        span = CharacterSpan("a.md", begin, begin + len(text), text)
        entries.append(TokenLevelGroundTruth(Query(f"q{number}", f"What of {number}?"), [span]))
    return relabel(Dataset(entries, TOKEN, name="bills", corpus=before), after)


def test_two_thousand_labels_are_one_screen_the_weakest_first_and_a_page_with_all_of_them():
    relabelled = many_edits()
    shown = lines(relabelled.summary(), 80)
    assert len(shown) <= 24
    gone, changed = relabelled.counts()["gone"], relabelled.counts()["changed"]
    assert gone + changed == 800
    titles = [line for line in shown if line.startswith(("Gone", "Changed", "Labels"))]
    assert titles == [f"Gone {gone}", f"Changed {changed}", "Labels found again 1,200"]
    assert shown[-1].strip() == "not shown; --html writes a page of all"
    assert str(relabelled).splitlines()[1].startswith("2000 labels: 0 unchanged, 1200 moved, ")
    page = relabelled._repr_html_()
    assert page.index("Gone") < page.index("Changed") < page.index("Labels found again")
    assert all(change.id in page for change in relabelled.changes if not change.is_found)
    assert page.count("[-parcels-]") == changed
    assert "more; --html" not in page
    assert len(page) < 1_500_000


def test_a_word_that_came_is_shown_also_where_the_line_ends_between_it_and_the_one_that_went():
    after = corpus_of(PAGE.replace("Refunds take five", "Refunds take thirteen"))
    (change,) = found(after, SECOND).changes
    for width in range(60, 90):
        shown = lines(Page("", (change_passages([change], after),)), width)
        assert [line[:3] for line in shown if "{+thirteen+}" in line] == ["  ┃"]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [("Price", "Discount", "[-price-] {+discount+}: | Team | 9 |"), ("Team", "Pro", "[-team-] {+pro+}: | Pro | 9 |")],
)
def test_a_value_under_or_beside_another_head_is_shown_with_both(old, new, shown):
    table = "| Plan | Price |\n|---|---|\n| Free | 0 |\n| Team | 9 |\n"
    before, after = corpus_of(table), corpus_of(table.replace(old, new))
    span = CharacterSpan("a.md", table.index("9"), table.index("9") + 1, "9")
    dataset = Dataset([TokenLevelGroundTruth(Query("q", "What is it?"), [span])], TOKEN, corpus=before)
    relabelled = relabel(dataset, after)
    assert f"    {shown}" in lines(update_page(relabelled, after))
    assert relabelled.record()["changes"][0]["heads"] == (old.lower(), new.lower())
