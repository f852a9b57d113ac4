"""Spans that are found again in an edited corpus, case by case."""

from functools import partial

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.data.label_contexts import Anchor
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.anchors import anchors_of, known_documents
from rag_evaluation_framework.labelling.reanchor import reanchor
from rag_evaluation_framework.testing.chunkers import assert_linear
from support.each import each

ANSWER = "Refunds take five working days in all countries."
PAGE = (
    f"# Billing\n\nInvoices are sent on the first day of the month. {ANSWER} Write to the help desk if one is late.\n"
)
START = PAGE.index(ANSWER)
OTHER = "# Support\n\nWrite to the help desk at any time. Support answers within one day, on Sundays too.\n"


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def span_of(corpus, doc_id, text, number=0):
    start = -1
    for _ in range(number + 1):
        start = corpus[doc_id].content.index(text, start + 1)
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


def found_again(before, after, text=ANSWER, doc_id="a.md", number=0):
    """What becomes of one span when the documents `before` become those `after`."""
    span = span_of(before, doc_id, text, number)
    (result,) = reanchor(anchors_of([span], before), after, known_documents([doc_id], before))
    if result.span is not None:
        assert result.span.text == after[result.span.doc_id].content[result.span.start : result.span.end]
    return result


def place(result):
    return None if result.span is None else (result.span.doc_id, result.span.start)


def place_of(corpus, doc_id, text=ANSWER, number=0):
    span = span_of(corpus, doc_id, text, number)
    return span.doc_id, span.start


def test_a_span_of_an_unchanged_document_is_where_it_was_by_its_offset():
    page = f"{ANSWER}\n{ANSWER}\n{ANSWER}\n"
    corpus = corpus_of(a=page, b=OTHER)
    result = found_again(corpus, corpus_of(a=page, b="All is new here."), number=1)
    assert (place(result), result.how) == (place_of(corpus, "a.md", number=1), "unchanged")


def test_a_span_that_did_not_move_in_an_edited_document_is_unchanged():
    corpus = corpus_of(a=PAGE)
    assert found_again(corpus, corpus_of(a=f"{PAGE}More.\n")).how == "unchanged"


@pytest.mark.parametrize(
    "edited",
    [
        f"<!-- a comment -->\n{PAGE}",
        PAGE.replace("the first day", "day one"),
        PAGE.replace("first day of the month", "last day").replace("Write to the help desk", "Ask"),
        f"# Billing\n\nThe rest is gone.\n\n{ANSWER}\n",
        ANSWER,
    ],
)
def test_a_text_that_was_unique_is_found_whatever_became_of_its_context(edited):
    corpus, after = corpus_of(a=PAGE, b=OTHER), corpus_of(a=edited, b=OTHER)
    result = found_again(corpus, after)
    assert (place(result), result.how) == (place_of(after, "a.md"), "moved")


def test_a_text_whose_white_space_changed_is_found_in_normal_form():
    corpus = corpus_of(a=PAGE)
    after = corpus_of(a=PAGE.replace(" five working", "\r\nfive\r\n  working"))
    result = found_again(corpus, after)
    assert result.how == "in normal form"
    assert result.span.text == "Refunds take\r\nfive\r\n  working days in all countries."


def test_a_document_with_other_line_ends_keeps_its_spans():
    page = f"# Title\n\nFirst line.\nYes.\nThird line of this very short page.\n\n{ANSWER}\n"
    corpus, after = corpus_of(a=page, b="Yes.\nNo.\n"), corpus_of(a=page.replace("\n", "\r\n"), b="Yes.\nNo.\n")
    assert place(found_again(corpus, after, "Yes.")) == place_of(after, "a.md", "Yes.")
    assert place(found_again(corpus, after)) == place_of(after, "a.md")
    assert found_again(corpus, after, "First line.\nYes.").span.text == "First line.\r\nYes."


def test_a_changed_word_is_never_found_by_likeness():
    after = corpus_of(a=PAGE.replace("five working", "six working"))
    result = found_again(corpus_of(a=PAGE), after)
    assert (result.span, result.how) == (None, "lost: its text is gone")
    assert result.nearest.quote.endswith(ANSWER.replace("five", "six"))
    assert 0.8 < result.nearest.similarity < 1
    assert result.nearest.difference.endswith("“five” for “six”")


def test_a_renamed_document_is_known_by_its_content():
    page = f"{ANSWER}\n{ANSWER}\n"  # nothing but the offset tells them apart
    result = found_again(corpus_of(a=page, b=OTHER), corpus_of(A=page, b=OTHER), number=1)
    assert (place(result), result.how) == (("A.md", len(ANSWER) + 1), "renamed")


def test_a_renamed_and_edited_document_is_the_one_that_holds_the_text():
    after = corpus_of(c=f"New first line.\n\n{PAGE}", b=OTHER)
    result = found_again(corpus_of(a=PAGE, b=OTHER), after)
    assert (place(result), result.how) == (place_of(after, "c.md"), "renamed")


def test_two_documents_that_swap_their_names_keep_their_spans():
    before, after = f"{ANSWER}\nOne.\n{ANSWER}\n", f"{ANSWER}\nTwo.\n{ANSWER}\n"
    corpus, swapped = corpus_of(a=before, b=after), corpus_of(a=after, b=before)
    span = span_of(corpus, "a.md", ANSWER, 1)
    (result,) = reanchor(anchors_of([span], corpus), swapped, known_documents(["a.md", "b.md"], corpus))
    assert place(result) == ("b.md", span.start)


TEMPLATE = (
    "# {}\n\nThis page is part of the product manual.\n\n{}\n\nWrite to the help desk at any time of the day.\n\n{}\n"
)
WASHER = TEMPLATE.format("Washer X1", ANSWER, "The washer X1 has 1400 rpm.")
DRYER = TEMPLATE.format("Dryer Y2", ANSWER, "The dryer Y2 has 8 kg.")


def places_after(before, after, *labelled):
    """The places of one label in each of the labelled documents."""
    spans = [span_of(before, doc_id, ANSWER) for doc_id in labelled]
    return list(map(place, reanchor(anchors_of(spans, before), after, known_documents(labelled, before))))


@each("labelled", [("a.md",), ("a.md", "b.md"), ("b.md",)])
@each("names", ["ba", "ca", "bc", "cd"])
def test_pages_of_one_template_that_change_their_names_take_their_spans_along(labelled, names):
    """Swapped, in a chain either way, and both to new names: by their hashes, never by what stands between.

    If nothing is labelled in the page that has its name now, it may also be that a page was copied and then edited.
    """
    before, after = corpus_of(a=WASHER, b=DRYER), corpus_of(**dict(zip(names, (WASHER, DRYER), strict=True)))
    now = {"a.md": f"{names[0]}.md", "b.md": f"{names[1]}.md"}
    expected = {name: (now[name], span_of(before, name, ANSWER).start) for name in labelled}
    if len(labelled) == 1 and labelled[0] in after:
        expected[labelled[0]] = None
    assert places_after(before, after, *labelled) == list(expected.values())


def test_a_page_that_took_the_name_of_a_deleted_one_does_not_take_its_spans():
    before, after = corpus_of(a=WASHER, b=DRYER), corpus_of(a=DRYER)
    assert places_after(before, after, "a.md", "b.md") == [None, ("a.md", DRYER.index(ANSWER))]


def test_a_page_that_took_another_name_is_followed_if_labels_tell_which_one_has_its_old_name():
    """Without them, it may also be that it was copied and then edited."""
    before, after = corpus_of(a=WASHER, b=DRYER), corpus_of(a=f"{DRYER}More.\n", b=WASHER)
    washer, dryer = (span_of(before, *of) for of in (("a.md", ANSWER), ("b.md", "The dryer Y2 has 8 kg.")))
    known = known_documents(["a.md", "b.md"], before)
    assert list(map(place, reanchor(anchors_of([washer, dryer], before), after, known))) == [
        ("b.md", washer.start),
        ("a.md", dryer.start),
    ]
    (alone,) = reanchor(anchors_of([washer], before), after, known_documents(["a.md"], before))
    assert alone.how.startswith("lost: it now stands in several places (a.md[")


REWORDED = PAGE.replace("five working", "six working")


@pytest.mark.parametrize(
    "after",
    [
        corpus_of(a=REWORDED, archive=PAGE),
        corpus_of(a=REWORDED, archive=f"This version is outdated.\n\n{PAGE}"),
        corpus_of(a=REWORDED, changes=f"# Changes\n\nUntil last year: {ANSWER} That is no longer so.\n"),
        corpus_of(a=REWORDED.replace("Write to the help desk", "Ask us"), changes=f"# Changes\n\n{ANSWER}\n"),
        corpus_of(a=REWORDED.replace("the first day of the month", "day one"), changes=f"# Changes\n\n{ANSWER}\n"),
        corpus_of(a=f"{REWORDED}\n## Until last year\n\n{ANSWER} That is no longer so.\n"),
    ],
    ids=["copy", "edited copy", "list of changes", "other context behind", "other context before", "own document"],
)
def test_a_label_whose_document_says_something_else_now_does_not_go_to_a_copy_of_what_it_said(after):
    result = found_again(corpus_of(a=PAGE, b=OTHER), after)
    assert result.how.startswith("lost: its document says something else now, and what it said stands in "), result.how
    assert result.nearest.quote == ANSWER


def test_a_label_that_changed_places_with_another_paragraph_is_lost_as_the_old_text_may_have_been_kept_there():
    other = "Every invoice has a number, which the payment names."
    after = corpus_of(a=f"{PAGE.replace(ANSWER, other)}\n{ANSWER}\n")
    result = found_again(corpus_of(a=f"{PAGE}\n{other}\n"), after)
    assert result.how.startswith("lost: its document says something else now")


FAQ = "# FAQ\n\nIs export of all data supported?\n\n{}\n\n{}Is import of all data supported?\n\nNo.\n"
LIMITS = "# Limits\n\n## Requests per minute\n\n{}\n\n{}## Size of one request in bytes\n\n1000\n"
PLANS = "| Plan of the year | Price |\n|---|---|\n| Basic plan | {} EUR |\n{}| Professional plan | 9 EUR |\n"
YAML = "limits of the service:\n  requests_per_minute: {}\n{}  maximum_size_of_request: 1000\n"


@pytest.mark.parametrize(
    ("page", "label", "new", "inserted"),
    [
        (FAQ, "Yes.", "No.", "Is deletion there?\n\nYes.\n\n"),
        (FAQ, "Yes, this works on all plans.", "Not yet.", "Is deletion there?\n\nYes, this works on all plans.\n\n"),
        (LIMITS, "500 requests", "300 requests", "## Burst\n\n500 requests\n\n"),
        (PLANS, "5", "4", "| Plus | 5 EUR |\n"),
        ("x\n\n- Basic: {}\n{}- Professional plan: 9 EUR\n", "5 EUR", "4 EUR", "- Plus: 5 EUR\n"),
        (YAML, "true", "false", "  burst: true\n"),
        ("**Export**\n\n{}\n\n{}**Import of all the data**\n\nNo\n", "Yes", "No", "**Sync**\n\nYes\n\n"),
    ],
    ids=["FAQ", "long answer", "headings", "table", "list", "settings", "bold"],
)
def test_an_answer_does_not_become_that_of_the_next_question(page, label, new, inserted):
    before, after = corpus_of(a=page.format(label, "")), corpus_of(a=page.format(new, inserted))
    assert found_again(before, after, label).span is None
    kept = corpus_of(a=f"New.\n\n{page.format(label, inserted.replace(label, 'None'))}")
    if page[0] in "#|l":  # where enough stands before it
        assert place(found_again(before, kept, label))


GUARANTEE = (
    "# {0}\n\nThe {0} is a product.\n\nThe guarantee period is {1} months from the date of purchase.\n\n"
    "Delivery takes {2} days after the order.\n"
)


@pytest.mark.parametrize("label", ["12 months", "The guarantee period is 12 months from the date of purchase.", "12"])
@pytest.mark.parametrize(
    "after",
    [
        corpus_of(b=GUARANTEE.format("dryer", 12, 5)),
        corpus_of(a="# washer\n\nThe washer is a product.\n", b=GUARANTEE.format("dryer", 12, 5)),
        corpus_of(a2=GUARANTEE.format("washer", 36, 3), b=GUARANTEE.format("dryer", 12, 5)),
        corpus_of(a=GUARANTEE.format("washer", 36, 3), c=GUARANTEE.format("iron", 12, 5), b=""),
    ],
    ids=["deleted", "section deleted", "renamed and changed", "changed, and a new page"],
)
def test_the_value_of_one_page_does_not_become_that_of_another_of_its_template(after, label):
    before = corpus_of(a=GUARANTEE.format("washer", 12, 3), b=GUARANTEE.format("dryer", 24, 5))
    after = Corpus(document for document in after if document.content)
    assert found_again(before, after, label).span is None


def test_pages_of_a_template_that_are_renamed_and_edited_are_known_by_two_labels():
    before = corpus_of(a=GUARANTEE.format("washer", 12, 3), b=GUARANTEE.format("dryer", 24, 5))
    after = corpus_of(c=f"New.\n\n{before['a.md'].content}", b=before["b.md"].content)
    labels = [
        span_of(before, "a.md", text) for text in ("The guarantee period is 12 months", "takes 3 days after the order")
    ]
    both = reanchor(anchors_of(labels, before), after, known_documents(["a.md"], before))
    assert [place(result) for result in both] == [("c.md", span.start + 6) for span in labels]
    (alone,) = reanchor(anchors_of(labels[:1], before), after, known_documents(["a.md"], before))
    assert alone.how.startswith("lost: what stands in c.md[")


def test_other_labels_of_a_document_that_was_copied_stay_in_it():
    """Also those whose text stands elsewhere, too: of a document that was renamed they would go along."""
    before = corpus_of(a=f"{PAGE}\nAll of it is new.\n\n## Terms\n\nSupport answers within one day.\n", b=OTHER)
    edited = before["a.md"].content.replace("five working", "six working")
    after = corpus_of(a=edited, archive=before["a.md"].content, b=OTHER)
    spans = [span_of(before, "a.md", text) for text in ("All of it is new.", "Support answers within one day.", ANSWER)]
    results = reanchor(anchors_of(spans, before), after, known_documents(["a.md"], before))
    assert [place(result) for result in results] == [("a.md", span.start - 1) for span in spans[:2]] + [None]


def test_a_text_that_only_its_own_document_had_cannot_have_come_there_by_a_swap():
    other = DRYER.replace(ANSWER, "Refunds take *five* working days in all countries.")
    page = WASHER.replace(ANSWER, "Refunds take __five__ working days in all countries.")
    text = "Refunds take __five__ working days in all countries."
    before, after = corpus_of(a=page, b=other), corpus_of(a=other, b=page)
    span = span_of(before, "a.md", text)
    (both_known,) = reanchor(anchors_of([span], before), after, known_documents(["a.md", "b.md"], before))
    assert place(both_known) == ("b.md", span.start)
    (one_known,) = reanchor(anchors_of([span], before), after, known_documents(["a.md"], before))
    assert one_known.span is None
    assert one_known.how.startswith("lost: it now stands in several places (a.md[")


def test_a_text_that_moved_to_another_document_is_found_although_the_old_one_is_there():
    after = corpus_of(a=PAGE.replace(f"{ANSWER} ", ""), b=f"{OTHER}\n{ANSWER}\n")
    result = found_again(corpus_of(a=PAGE, b=OTHER), after)
    assert (place(result), result.how) == (place_of(after, "b.md"), "moved")


def test_a_document_that_was_copied_and_then_edited_keeps_its_spans():
    after = corpus_of(a=PAGE.replace("# Billing", "# Invoices"), archived=PAGE)
    assert place(found_again(corpus_of(a=PAGE), after)) == place_of(after, "a.md")


def test_a_document_that_was_renamed_to_two_names_is_not_certain():
    result = found_again(corpus_of(a=PAGE), corpus_of(b=PAGE, c=PAGE))
    assert result.span is None
    assert result.how.startswith("lost: it now stands in several places (b.md[")


def test_the_other_copy_of_a_text_is_not_taken_when_its_own_is_deleted():
    corpus = corpus_of(a=PAGE, b=f"{OTHER}\n{ANSWER}\n")
    result = found_again(corpus, corpus_of(a=PAGE.replace(f"{ANSWER} ", ""), b=f"# Changed\n\n{ANSWER}\n"))
    assert result.span is None
    assert result.how.startswith("lost: its text stands with another context (b.md[")
    assert result.nearest.quote == ANSWER


def test_the_other_copy_in_the_same_document_is_not_taken_either():
    page = f"{PAGE}\n## Elsewhere\n\nTo say it again: {ANSWER} That is all that there is to say.\n"
    after = corpus_of(a=page.replace(f"{ANSWER} Write", "Write"))
    assert found_again(corpus_of(a=page), after).span is None
    after = corpus_of(a=page.replace(f"To say it again: {ANSWER} ", "").replace("# Billing", "# Invoices"))
    assert place(found_again(corpus_of(a=page), after)) == place_of(after, "a.md")


def test_several_places_of_a_text_are_told_apart_by_their_contexts():
    page = f"{PAGE}\n## Elsewhere\n\nTo say it again: {ANSWER} That is all that there is to say.\n"
    after = corpus_of(a=f"A new first line.\n{page}")
    for number in (0, 1):
        result = found_again(corpus_of(a=page), after, number=number)
        assert place(result) == place_of(after, "a.md", number=number)


def test_copies_with_the_same_contexts_are_lost_when_their_document_changes():
    page = f"{PAGE}\n{PAGE}"
    for number in (0, 1):
        result = found_again(corpus_of(a=page), corpus_of(a=f"{page}\nOne more line.\n"), number=number)
        assert result.span is None
        assert "several places" in result.how


def test_a_text_with_copies_in_other_documents_is_found_in_its_own_and_nowhere_else():
    page = (
        f"# {{}}\n\nThis is a page of the manual, one of many.\n\n{ANSWER}\n\nThis page is as all of the others are.\n"
    )
    corpus = corpus_of(a=page.format("A"), b=page.format("B"))
    after = corpus_of(a=page.format("A new title"), b=page.format("Another"))
    assert place(found_again(corpus, after)) == place_of(after, "a.md")
    assert found_again(corpus, corpus_of(b=page.format("Another"))).span is None
    assert found_again(corpus, corpus_of(c=page.format("A new title"), b=page.format("Another"))).span is None


def test_a_deleted_document_is_not_replaced_by_one_that_had_the_same_text_already():
    result = found_again(corpus_of(a=PAGE, b=PAGE), corpus_of(b=PAGE))
    assert result.span is None
    assert "its document a.md is gone" in result.how


def test_a_place_in_a_document_that_is_unchanged_was_never_that_of_another_span():
    corpus = corpus_of(a=PAGE, b=PAGE.replace("# Billing", "# Copy"))
    anchor = Anchor(
        "a.md", START, ANSWER, PAGE[START - 32 : START], PAGE[START + len(ANSWER) :][:32]
    )  # nobody looked for copies
    known = known_documents(["a.md", "b.md"], corpus)
    after = corpus_of(a="Deleted.", b=corpus["b.md"].content)
    assert reanchor([anchor], after, known)[0].span is None
    assert reanchor([anchor], after, {"a.md": known["a.md"]})[0].span is not None


def test_a_context_of_a_few_characters_tells_no_copies_apart():
    page, blank = "The first line.{0}{1}:\nYes.{0}The last line.", "\n" * 40
    corpus = corpus_of(a=page.format(blank, "Now"), b=page.format(blank, "Then"))
    after = corpus_of(a=f"An edit.\n{corpus['a.md'].content}", b=corpus["b.md"].content)
    assert found_again(corpus, after, "Yes.").span is None


def test_a_short_text_needs_its_context_on_one_side():
    page = "# Questions\n\nIs there a refund for every order? Yes. It takes five working days at most.\n"
    corpus = corpus_of(a=page)
    one_side = corpus_of(a=page.replace("It takes five", "Often it is three"))
    assert place(found_again(corpus, one_side, "Yes.")) == place_of(one_side, "a.md", "Yes.")
    neither = corpus_of(a="# Questions\n\nMay I pay by cheque? Yes. Write the number of the order on it.\n")
    result = found_again(corpus, neither, "Yes.")
    assert result.span is None
    assert result.how.startswith("lost: its text stands with another context")


@pytest.mark.parametrize("behind", ["It takes five", "Often it is three"])
def test_a_short_text_whose_white_space_changed_is_found_behind_what_was_before_it(behind):
    page = "# Questions\n\nIs there a refund for every order? Yes, sir. It takes five working days at most.\n"
    after = corpus_of(a=page.replace("Yes, sir. It takes five", f"Yes,\nsir. {behind}"))
    assert found_again(corpus_of(a=page), after, "Yes, sir.").how == "in normal form"


GOING_ON = [
    *[("5 EUR", new) for new in (".5 EUR", "±5 EUR", "≈5 EUR", "2^5 EUR", "1'5 EUR", "1’5 EUR", "3–5 EUR", "2×5 EUR")],
    *[("500 EUR", new) for new in ("1 500 EUR", "1\u00a0500 EUR", "12 345 500 EUR")],
    *[
        ("EUR 5", new)
        for new in ("EUR 5 000", "EUR 5\u202f000", "EUR 5'000", "EUR 5–10", "EUR 5-10", "EUR 5 %", "EUR 5^3")
    ],
    *[("EUR 5", new) for new in ("EUR 5 ± 1", "EUR 5 × 10", "EUR 5<sup>3</sup>", "EUR 5-year")],
    *[("allowed", new) for new in ("non-allowed", "un‑allowed", "non-**allowed", "allowed-ish", "allowed's")],
    *[("file", new) for new in ("file.txt", "my/file", "file@home", "`file`.txt")],
]


@each(("label", "new"), GOING_ON)
def test_a_word_or_number_that_goes_on_only_now_is_another_one(label, new):
    page = "# Plan\n\nFor all of the customers of the gold plan it is now set to {} and nobody pays more than that.\n"
    before, after = corpus_of(a=page.format(label)), corpus_of(a=f"Edited.\n{page.format(new)}")
    assert found_again(before, after, label).span is None
    long = f"the customers of the gold plan it is now set to {label}"
    assert found_again(before, after, long).span is None or new.endswith(label)
    went_on = corpus_of(a=page.format(new))
    assert place(found_again(went_on, after, label)) == place_of(after, "a.md", label)


@pytest.mark.parametrize(
    "new", ["EUR 5 each", "EUR 5, 100 times", "EUR 5. 100 times", "EUR 5\n100 times", "EUR 5: 1000"]
)
def test_what_follows_a_number_and_is_no_part_of_it_may_change(new):
    page = "# Plan\n\nFor all of the customers of the gold plan it is now set to {} and nobody pays more than that.\n"
    text = "the customers of the gold plan it is now set to EUR 5"
    before, after = corpus_of(a=page.format("EUR 5")), corpus_of(a=page.format(new))
    assert found_again(before, after, text).how == "unchanged"


@pytest.mark.parametrize(
    ("first", "last", "is_found"),
    [
        ("5 EUR", "5 EUR", True),
        ("7 EUR with a setup fee of 5 EUR", "5 EUR for the setup, and 7 EUR", False),
        ("7 EUR\nwith a setup fee of 5 EUR", "5 EUR for the setup,\nand 7 EUR", False),
        ("not 5 EUR", "5 EUR no longer", False),
    ],
)
def test_a_short_text_is_not_found_where_something_is_written_between_it_and_a_context(first, last, is_found):
    page = "# Plan\n\nThe price of the gold plan per month is\n{}\nand it may be cancelled at any time.\n"
    for line in (first, last):
        result = found_again(corpus_of(a=page.format("5 EUR")), corpus_of(a=f"Edited.\n{page.format(line)}"), "5 EUR")
        assert (result.span is not None) == is_found


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("\nIt was changed in June.\n\n5 EUR", False),
        ("5 EUR\n\nThe following was changed in June.\n", True),
        ("- 7 EUR\n- 5 EUR", False),
        ("5 EUR\n- 7 EUR", True),
    ],
)
def test_what_a_short_text_is_about_stands_before_it(line, is_found):
    page = "# Plan\n\nThe price of the gold plan per month is\n{}\nand it may be cancelled at any time.\n"
    result = found_again(corpus_of(a=page.format("5 EUR")), corpus_of(a=f"Edited.\n{page.format(line)}"), "5 EUR")
    assert (result.span is not None) == is_found


def test_of_more_places_than_are_looked_at_none_is_taken():
    anchor = Anchor("gone.md", START, ANSWER, PAGE[START - 32 : START], PAGE[START + len(ANSWER) :][:32])
    others = corpus_of(**{f"m{number}": f"{PAGE}{number}" for number in range(19)})
    known = known_documents([document.id for document in others], others)
    both = Corpus([Document(DocumentId("a.md"), f"A {PAGE}"), *others, Document(DocumentId("z.md"), f"Z {PAGE}")])
    assert reanchor([anchor], both, known)[0].span is None


def test_spans_at_the_edges_of_a_document_need_only_the_context_that_there_is():
    first, last = "Invoices come monthly.", "Refunds come daily."
    page = f"{first} They are sent by electronic mail to everybody. {last}"
    corpus, after = corpus_of(a=page, b=OTHER), corpus_of(a=f"# Title\n\n{page}\n\nThe end.\n", b=OTHER)
    assert place(found_again(corpus, after, first)) == place_of(after, "a.md", first)
    assert place(found_again(corpus, after, last)) == place_of(after, "a.md", last)
    assert place(found_again(corpus_of(a=page), corpus_of(b=f"{page}.."), page)) == ("b.md", 0)


def test_a_copy_at_the_edge_of_a_document_stays_there():
    footer = "All rights are reserved by the authors of this manual."
    page = f"# One\n\nThe first of all the pages of this manual.\n\n{footer}\n"
    corpus = corpus_of(a=page, b=f"# Two\n\nAnother page.\n\n{footer}\n\nMore text behind it.\n")
    after = corpus_of(a=page.replace("# One", "# First"), b=corpus["b.md"].content)
    assert place(found_again(corpus, after, footer)) == place_of(after, "a.md", footer)
    not_at_the_end = corpus_of(a=page.replace("# One", "# First") + "More.\n", b=corpus["b.md"].content)
    assert found_again(corpus, not_at_the_end, footer).span is None


def test_white_space_at_the_ends_of_a_label_stays_where_it_is_still_there():
    text = f"\n{ANSWER} "
    page = PAGE.replace(f" {ANSWER}", text.rstrip())
    after = corpus_of(a=f"One more line.\n{page}")
    assert found_again(corpus_of(a=page), after, text).span.text == text
    joined = corpus_of(a=f"One more line.\n{page}".replace(f"\n{ANSWER}", f"  {ANSWER}"))
    assert found_again(corpus_of(a=page), joined, text).span.text == ANSWER


def test_overlapping_spans_and_the_same_span_twice_are_found_each_by_itself():
    corpus, after = corpus_of(a=PAGE), corpus_of(a=f"\n\n{PAGE}")
    spans = [span_of(corpus, "a.md", text) for text in (ANSWER, ANSWER[:30], ANSWER)]
    results = reanchor(anchors_of(spans, corpus), after, known_documents(["a.md"], corpus))
    assert [(result.span.start, result.span.end) for result in results] == [
        (span.start + 2, span.end + 2) for span in spans
    ]


@pytest.mark.parametrize("known", [{}, {"a.md": "a hash that is no longer right"}])
def test_a_file_without_contexts_and_hashes_is_anchored_by_text_alone(known):
    long, short = Anchor("a.md", 7, ANSWER), Anchor("a.md", 7, "Refunds take")
    after = corpus_of(a=PAGE, b=OTHER)
    found, lost = reanchor([long, short], after, known)
    assert place(found) == place_of(after, "a.md")
    assert lost.span is None
    twice = corpus_of(a=PAGE, b=f"{OTHER}{ANSWER}")
    assert reanchor([long], twice, known)[0].span is None


def test_without_a_hash_text_and_context_at_the_offset_are_enough():
    corpus = corpus_of(a=f"Yes. {PAGE}", b="Yes. No.")
    assert place(reanchor([Anchor("a.md", 0, "Yes.")], corpus, {})[0]) == ("a.md", 0)
    assert place(reanchor([Anchor("a.md", 0, "Yes.", "", " # Billing\n\nInvo")], corpus, {})[0]) == ("a.md", 0)
    assert reanchor([Anchor("a.md", 0, "Yes.", "", " # Invoices\n\nOn")], corpus, {})[0].span is None


def test_a_label_of_white_space_or_without_text_is_lost_not_found_anywhere():
    for text in ("", " \n"):
        (result,) = reanchor([Anchor("a.md", 3, text)], corpus_of(a=PAGE), {})
        assert (result.span, result.how) == (None, "lost: its label has no text to look for")


def test_a_document_that_is_gone_is_named_in_one_line():
    (result,) = reanchor([Anchor("gone\n\x1b[31m.md", 3, "Nothing like this is anywhere.")], corpus_of(a=PAGE), {})
    assert "\n" not in result.how
    assert "\x1b" not in result.how
    assert result.how.startswith("lost: its document gone")
    assert result.how.endswith("is gone and its text is in no other")


def test_of_many_texts_that_are_gone_the_first_ones_are_compared():
    anchors = [Anchor("a.md", 3, f"Refunds take {number} working days in all countries.") for number in range(202)]
    results = reanchor(anchors, corpus_of(a=PAGE), {})
    assert [result.nearest is None for result in results] == [False] * 200 + [True] * 2


def test_anchors_are_only_made_of_spans_that_match():
    with pytest.raises(DatasetError, match=r"a\.md\[0:4\] is '# Bi' in the document, but 'text' in the dataset"):
        anchors_of([CharacterSpan(DocumentId("a.md"), 0, 4, "text")], corpus_of(a=PAGE))


def test_what_made_a_place_the_only_one_is_kept_with_the_span():
    page = f"{PAGE}\n{PAGE.replace('# Billing', '# Again')}"
    corpus = corpus_of(a=page)
    texts = [("# Billing", 0), ("# Again", 0), ("Invoices are sent", 0), (ANSWER, 0)]
    anchors = anchors_of([span_of(corpus, "a.md", *given) for given in texts], corpus)
    assert [anchor.unique_with for anchor in anchors] == ["text", "text among others", "context", "nothing"]
    (anchor,) = anchors_of([span_of(corpus_of(a=PAGE, b=PAGE), "a.md", ANSWER)], corpus_of(a=PAGE, b=PAGE))
    assert anchor.unique_with == "document"


def test_known_documents_are_those_of_the_labels_and_those_with_the_same_text():
    assert known_documents(["a.md"], corpus_of(a=PAGE, b=OTHER, c=PAGE)).keys() == {"a.md", "c.md"}


def test_what_the_documents_show_is_read_once_for_all_labels_that_are_lost():
    lines = [f"The limit number {number} of the service is told on this line.\n" for number in range(60)]
    corpus = corpus_of(a="".join(lines), b=PAGE * 2_500)
    anchors = anchors_of([span_of(corpus, "a.md", line.strip()) for line in lines], corpus)
    known = known_documents(["a.md"], corpus)

    def found_again(labels):
        after = corpus_of(a="".join(line.replace("limit", "border") for line in lines), b=PAGE * 2_500)
        return partial(reanchor, anchors[:labels], after, known)

    assert all(result.span is None and result.nearest is not None for result in found_again(60)())
    assert_linear(found_again, 1, times=60, most=10)


@each(
    ("suffix", "hidden"),
    [
        ("md", "<!-- {} -->"),
        ("md", "<!--\nOld, to be deleted:\n\n{}\n\nMore of it.\n-->"),
        ("rst", ".. {}"),
        ("rst", "..\n   Old, to be deleted:\n\n   {}\n"),
        ("md", "[//]: # ({})"),
        ("md", '[comment]: <> "{}"'),
        ("md", "![A page](page.png '{}')"),
        ("md", "[A page](page.html '{}')"),
        ("md", "<p data-old='{}'>New.</p>"),
    ],
)
def test_a_label_that_is_hidden_now_is_lost_and_one_that_was_is_not(suffix, hidden):
    page = "Invoices are sent on the first day of the month.\n\n{}\n\nWrite to the help desk if one is late.\n"
    before, after = (
        Corpus([Document(DocumentId(f"a.{suffix}"), page.format(text))]) for text in (ANSWER, hidden.format(ANSWER))
    )
    lost = found_again(before, after, doc_id=f"a.{suffix}")
    assert lost.how.startswith(f"lost: its text stands hidden, as in a comment or an attribute (a.{suffix}["), lost.how
    assert found_again(after, before, doc_id=f"a.{suffix}").span is not None
    moved = Corpus([Document(DocumentId(f"a.{suffix}"), f"One more line.\n\n{after[f'a.{suffix}'].content}")])
    assert found_again(after, moved, doc_id=f"a.{suffix}").span is not None


FAR = "Some more words to fill the page.\n\n" * 200


@pytest.mark.parametrize("suffix", ["md"])
def test_a_label_that_is_struck_out_from_afar_now_is_lost(suffix):
    page = f"# Page\n\n{{}}{FAR}{ANSWER}\n\n{{}}Write to the help desk if one is late.\n"
    documents = [
        Document(DocumentId(f"a.{suffix}"), page.format(*tags)) for tags in (("", ""), ("<del>\n\n", "</del>"))
    ]
    before, after = (Corpus([document]) for document in documents)
    assert found_again(before, after, doc_id=f"a.{suffix}").how.startswith("lost: its text stands struck out (")


@pytest.mark.parametrize(
    "start", [f"---\ntitle: Page\nintro: {FAR[:-2].replace(chr(10), ' ')}", "![A picture: " + "words " * 20]
)
def test_a_label_in_a_part_that_was_hidden_farther_away_than_its_context_stays(start):
    page = f"{start} {ANSWER} {{}}\n---\n](a.png)\n\nThat was all.\n"
    before, after = corpus_of(a=page.format("More.")), corpus_of(a=f"{page.format('More.')}\nNew.\n")
    assert found_again(before, after).span is not None


def test_what_looks_like_a_comment_in_code_is_shown():
    page = "# Comments\n\n```html\n<!-- {} -->\n```\n"
    before, after = corpus_of(a=f"# Comments\n\n{ANSWER}\n"), corpus_of(a=page.format(ANSWER))
    assert place(found_again(before, after)) == place_of(after, "a.md")


BACKUPS = "# FAQ\n\n## How long are the backups kept?\n\n{}\n\n## Where are they kept, and by whom?\n\nIn Europe.\n"
KEPT = "Backups are kept for thirty days in the same region."


@pytest.mark.parametrize(
    "page",
    [
        BACKUPS.format(f"{KEPT} Ask support to restore one."),
        BACKUPS.format(KEPT).replace("How long are", "For how many days are").replace("kept, and by whom", "stored"),
        BACKUPS.format(f"{KEPT}\n\n## May I see them?\n\nNo."),
    ],
    ids=["more of it", "questions reworded", "another question"],
)
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_long_answer_is_found_unless_its_question_has_another_one(page, name):
    after = corpus_of(**{name: page})
    assert place(found_again(corpus_of(a=BACKUPS.format(KEPT)), after, KEPT)) == place_of(after, f"{name}.md", KEPT)


@pytest.mark.parametrize(
    ("label", "new"),
    [
        ("Payments are due in fourteen days.", "Reminders are sent in ten days. Payments are due in fourteen days."),
        ("- Storage: up to 5 GB per user", "- Archives: up to 9 GB per user\n- Storage: up to 5 GB per user"),
        ("fourteen days", "**fourteen days**"),
        ("fourteen days", "[fourteen days](t.md)"),
        ("fourteen days", "fourteen days[^1]"),
    ],
)
def test_what_is_written_beside_or_around_a_label_loses_no_label(label, new):
    page = "Invoices are sent on day five of a month.\n{}\nLate payments cost three percent of the sum.\n"
    line = f"Payments are due in {label}. Late" if label == "fourteen days" else label
    before, after = (corpus_of(a=page.format(text)) for text in (line, line.replace(label, new)))
    assert place(found_again(before, after, label)) == place_of(after, "a.md", label)


@pytest.mark.parametrize(
    ("page", "label", "new"),
    [
        (
            "| Plan | Price |\n|---|---|\n| Basic | 10 EUR |\n{}\n| All | 30 EUR |\n",
            "| Pro | 20 EUR |",
            "| Plus | 15 EUR |",
        ),
        (
            "Prices of all plans are as follows\n\n- Basic: 10 EUR\n{}\n- All of them: 30 EUR\n",
            "- Pro: 20 EUR",
            "- Plus: 15 EUR",
        ),
        ("Everything has been said about them.\n\n{}\n\nThere are none of them at all.\n", "## Limits", "More of it."),
    ],
)
def test_a_row_is_found_behind_a_new_one(page, label, new):
    between = "\n\n" if label.startswith("#") else "\n"
    before, after = corpus_of(a=page.format(label)), corpus_of(a=page.format(f"{new}{between}{label}"))
    assert place(found_again(before, after, label)) == place_of(after, "a.md", label)


def test_a_number_that_is_part_of_another_one_is_no_copy():
    page = "# Plans\n\nThe Team plan has 10 seats. It comes with 100 GB of storage. Version 3.10 is out.\n"
    before, after = corpus_of(a=page), corpus_of(a=page.replace("It comes with", "You also get"))
    (anchor,) = anchors_of([span_of(before, "a.md", "10")], before)
    assert anchor.unique_with == "text"
    assert found_again(before, after, "10").how == "unchanged"
    lost = found_again(before, corpus_of(a=page.replace("has 10 seats", "is open to 10 people")), "10")
    assert lost.how.startswith("lost: its text stands with another context (a.md[")


def test_a_short_text_of_a_renamed_document_is_found_in_the_one_that_the_others_name():
    text, more = "All of the prices are without tax.", "Nobody pays for more than one year."
    page = f"# Plans\n\n{text}\n\n| Plan | Price |\n|---|---|\n| Team | 29 EUR |\n| Big | 99 EUR |\n\n{more}\n"
    before = corpus_of(a=page)
    after = corpus_of(b=page.replace("| Big", "| Pro | 59 EUR |\n| Big"))
    anchors = anchors_of([span_of(before, "a.md", part) for part in (text, more, "29 EUR", "99 EUR")], before)
    found = reanchor(anchors, after, known_documents(["a.md"], before))
    assert [result.how for result in found] == ["renamed"] * 4
    assert reanchor(anchors[2:3], after, known_documents(["a.md"], before))[0].span is None
