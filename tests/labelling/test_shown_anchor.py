"""Labels whose markup or typography has changed, case by case."""

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.data.label_contexts import Anchor
from rag_evaluation_framework.labelling.anchors import anchors_of, known_documents
from rag_evaluation_framework.labelling.reanchor import reanchor

BEFORE = "# Billing\n\nInvoices are sent on the first day of the month. "
ANSWER = 'Refunds take *at most* 5 working days, "without exception", in all countries.'
AFTER = " Write to the help desk if one is late.\n"


def corpus_of(suffix="md", **texts):
    return Corpus(Document(DocumentId(f"{name}.{suffix}"), text) for name, text in texts.items())


def found_again(before, after, text=ANSWER):
    """What becomes of a span of the first document when the documents `before` become those `after`."""
    document = before.documents[0]
    start = document.content.index(text)
    span = CharacterSpan(document.id, start, start + len(text), text)
    (result,) = reanchor(anchors_of([span], before), after, known_documents([document.id], before))
    return result


def edited(answer, before=BEFORE, after=AFTER):
    return found_again(corpus_of(a=f"{BEFORE}{ANSWER}{AFTER}"), corpus_of(a=f"{before}{answer}{after}"))


@pytest.mark.parametrize(
    ("answer", "ignoring"),
    [
        (ANSWER.replace("*", "**"), "emphasis"),
        (ANSWER.replace("*", ""), "emphasis"),
        (ANSWER.replace("*at most*", "<em>at most</em>"), "emphasis, tags"),
        (ANSWER.replace(' "without exception"', " “without exception”"), "emphasis, quotation marks"),
        (ANSWER.replace("all countries", "[all countries](https://example.org/c)"), "emphasis, links"),
        (ANSWER.replace("working", "`working`").replace(" in ", "\nin "), "emphasis, code, line breaks"),
    ],
)
def test_a_label_is_found_where_it_is_shown_as_it_was_and_what_was_ignored_is_named(answer, ignoring):
    result = edited(answer)
    assert (result.span.text, result.how) == (answer, f"in normal form, ignoring: {ignoring}")


@pytest.mark.parametrize(
    "change",
    [
        ("5", "6"),
        ("5 ", "-5 "),
        ("5 ", "5.5 "),
        ("at most", "about"),
        (" take ", " never take "),
        ("exception", "Exception"),
        (",", ";"),
        ("countries.", "countries"),
        ("countries.", "countries!"),
    ],
)
def test_what_is_shown_otherwise_is_lost(change):
    assert edited(ANSWER.replace("*", "**").replace(*change)).span is None


@pytest.mark.parametrize(
    ("suffix", "one", "other"),
    [
        ("md", "10<sup>6</sup>", "106"),
        ("rst", "10\\ :sup:`6`\\", "106"),
        ("md", "CO<sub>2</sub>", "CO2"),
        ("md", "~~not~~", "not"),
        ("md", "<del>not</del>", "not"),
    ],
)
def test_what_is_struck_out_raised_or_lowered_on_one_side_only_is_something_else(suffix, one, other):
    text = "There are {} of the rows that may be deleted"
    page = f"{BEFORE}{text}{AFTER}"
    for was, now in ((one, other), (other, one)):
        before, after = corpus_of(suffix, a=page.format(was)), corpus_of(suffix, a=page.format(now))
        assert found_again(before, after, text.format(was)).span is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("~~not~~", "<del>not</del>"), ("<s>not</s>", "~~**not**~~"), ("10<sup>6</sup>", "<b>10</b><SUP>6</SUP>")],
)
def test_what_is_struck_out_or_raised_may_be_written_otherwise(one, other):
    text = "There are {} of the rows that may be deleted"
    page = f"{BEFORE}{text}{AFTER}"
    result = found_again(corpus_of(a=page.format(one)), corpus_of(a=page.format(other)), text.format(one))
    assert result.span.text == text.format(other)


@pytest.mark.parametrize("struck", ["~~{}~~", "<del>{}</del>", "~~Until 2025: {}~~", "<s>Some more. {} And more.</s>"])
def test_a_label_that_is_struck_out_now_is_lost_and_one_that_was_is_not(struck):
    text = "Refunds take at most five working days."
    page = f"{BEFORE}\n\n{{}}\n\n{AFTER}"
    before, after = page.format(text), page.format(struck.format(text))
    assert found_again(corpus_of(a=before), corpus_of(a=after), text).span is None
    assert found_again(corpus_of(a=after), corpus_of(a=f"Edited.\n{after}"), text).how == "moved"
    assert found_again(corpus_of(a=before), corpus_of(a=f"~~Edited.~~\n\n~~This~~ {before}"), text).how == "moved"
    assert found_again(corpus_of("txt", a=before), corpus_of("txt", a=after), text).how == "moved"


@pytest.mark.parametrize("end", ["", " working", "0", ".5", " %", "th"])
def test_a_word_or_number_that_goes_on_is_another_one(end):
    text = "All of the refunds of an order take 5"
    page = f"{BEFORE}{text} days.{AFTER}"
    result = found_again(corpus_of(a=page), corpus_of(a=page.replace("take 5", f"take 5{end}")), text)
    assert (result.span is None) == (end not in ("", " working"))


@pytest.mark.parametrize(
    ("suffix", "before", "after"),
    [
        ("rst", "*at most*", "**at most**"),
        ("rst", "see :ref:`at most <limits>`", "see `at most <https://example.org>`_"),
    ],
)
def test_labels_of_other_formats_are_compared_as_their_renderers_show_them(suffix, before, after):
    page = f"{BEFORE}Refunds take {before} five working days in all countries.{AFTER}"
    text = page[len(BEFORE) : -len(AFTER)]
    new = page.replace(before, after)
    result = found_again(corpus_of(suffix, a=page), corpus_of(suffix, a=new), text)
    assert result.span.text == text.replace(before, after)


def test_plain_text_has_no_markup():
    corpus = corpus_of("txt", a=f"{BEFORE}{ANSWER}{AFTER}")
    assert found_again(corpus, corpus_of("txt", a=f"{BEFORE}{ANSWER.replace('*', '**')}{AFTER}")).span is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```python\n", "\n```\n"),
        ("Below is an example of the calculation of the total, with the rates:\n\n    ", "\n"),
        ("Write the whole of the following formula into the cell: `total + ", "`\n"),
    ],
)
def test_signs_of_code_are_never_ignored(before, after):
    text = "price_of_one_item*rate_of_the_tax*number_of_items"
    page = f"# Code\n\n{before}{text}{after}"
    changed = page.replace(text, text.replace("*", ""))
    assert found_again(corpus_of(a=page), corpus_of(a=changed), text).span is None


def test_below_code_a_label_is_read_as_text():
    code = "```\nreturn the_total_of_all * 2\n```\n\n"
    corpus = corpus_of(a=f"# Code\n\n{code}{ANSWER}{AFTER}")
    after = corpus_of(a=f"# Code\n\n{code}{ANSWER.replace('*', '_')}{AFTER}")
    assert found_again(corpus, after).how == "in normal form, ignoring: emphasis"


def test_a_list_keeps_its_markers_and_may_have_others():
    items = "- Refunds take five days.\n- Invoices are sent monthly.\n"
    page = f"{BEFORE}\n\n{items}\nWrite to the help desk at any time.\n"
    after = page.replace("- ", "* ").replace("five days", "**five days**")
    result = found_again(corpus_of(a=page), corpus_of(a=after), items.strip())
    assert result.span.text == "* Refunds take **five days**.\n* Invoices are sent monthly."
    negated = after.replace("* Refunds", "* Never: Refunds")
    assert found_again(corpus_of(a=page), corpus_of(a=negated), items.strip()).span is None


def test_markup_that_the_label_began_with_is_part_of_it_again():
    text = "**Note:** Refunds take at most five working days."
    page = f"{BEFORE}\n\n{text}{AFTER}"
    after = page.replace(text, "> __Note:__ Refunds take at most *five* working days.")
    assert found_again(corpus_of(a=page), corpus_of(a=after), text).span.text.startswith("__Note:__ Refunds")


def test_one_context_is_enough_and_none_is_not():
    bold = ANSWER.replace("*", "**")
    assert edited(bold, before="# Billing\n\nAll is new here. ").span is not None
    assert edited(bold, after=" The end.\n").span is not None
    assert edited(bold, before="# Billing\n\nAll is new here. ", after=" The end.\n").span is None


def test_a_short_label_needs_both_contexts_and_the_one_that_stood_in_several_places_is_not_looked_for():
    page = f"{BEFORE}*Yes.*{AFTER}"
    after = f"{BEFORE}**Yes.**{AFTER}"
    assert found_again(corpus_of(a=page), corpus_of(a=after), "*Yes.*").span is not None
    assert found_again(corpus_of(a=page), corpus_of(a=after.replace("Invoices", "Bills")), "*Yes.*").span is not None
    assert found_again(corpus_of(a=page), corpus_of(a=after.replace("month", "year")), "*Yes.*").span is None
    twice = f"{page}\n{ANSWER}\n\n## Again\n\n{ANSWER}"
    once = twice.replace(f"## Again\n\n{ANSWER}", f"## Again\n\n{ANSWER.replace('*', '_')}")
    assert found_again(corpus_of(a=twice), corpus_of(a=once.replace(ANSWER, "")), ANSWER).span is None


def test_of_its_own_document_that_shows_it_and_one_that_is_what_that_was_none_is_taken():
    """The own one was edited and copied before, or renamed, and its name given to one that showed the same."""
    page = f"{BEFORE}{ANSWER}{AFTER}"
    result = found_again(corpus_of(a=page), corpus_of(a=page.replace("*at most*", "**at most**"), v1=page))
    assert result.how.startswith("lost: it now stands in several places (a.md[")


def test_another_place_that_shows_the_same_is_not_taken_for_a_label_that_is_gone():
    other = f"# Other\n\nOn the second page. {ANSWER.replace('*', '')} Nothing else is here to be read.\n"
    corpus = corpus_of(a=f"{BEFORE}{ANSWER}{AFTER}", b=other)
    assert found_again(corpus, corpus_of(a=f"{BEFORE}{AFTER}", b=f"{other}\nMore.\n")).span is None


def test_several_places_that_show_the_same_are_named():
    bold = f"{BEFORE}{ANSWER.replace('*', '**')}{AFTER}"
    result = found_again(corpus_of(a=f"{BEFORE}{ANSWER}{AFTER}"), corpus_of(a=f"{bold}\n{bold}"))
    assert result.how.startswith("lost: it now stands in several places (a.md[")


def test_other_documents_may_have_shown_the_same_before():
    page = f"{BEFORE}{ANSWER}{AFTER}"
    other = page.replace("*at most*", "<em>at most</em>")
    corpus = corpus_of(a=page, v1=other)
    assert found_again(corpus, corpus_of(a=page.replace("5 working", "6 working"), v1=other)).span is None
    assert found_again(corpus, corpus_of(v1=f"{other}\nMore.\n")).span is None


def test_a_label_that_shows_nothing_is_lost():
    page = f"{BEFORE}<!-- a comment that is long enough -->{AFTER}"
    after = page.replace("a comment", "the comment")
    assert found_again(corpus_of(a=page), corpus_of(a=after), "<!-- a comment that is long enough -->").span is None


def test_without_contexts_nothing_is_ignored():
    anchor = Anchor("a.md", len(BEFORE), ANSWER)
    assert reanchor([anchor], corpus_of(a=f"{BEFORE}{ANSWER.replace('*', '_')}{AFTER}"), {})[0].span is None
