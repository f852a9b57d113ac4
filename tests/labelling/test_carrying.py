"""Labels go where their words went: what people do to documents, one case each, as the guide lists them."""

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.labelling.carrying import Carrier

BILLING = """# Billing

Invoices are sent on the first working day of each month to the address of the customer.

Refunds are paid within 30 days after the goods have come back to our warehouse in Berlin.

## Limits

A single order holds at most 200 articles, and the address of delivery has to be in the country of the shop.
"""
STAFF = """# Staff

New colleagues get their key on the first day at the desk on the ground floor.

Holidays are asked for at least two weeks ahead, and the manager answers within three working days.
"""
PLANS = """# Plans

| plan | refund | support | seats |
|---|---|---|---|
| Free | 14 days | email | 5 |
| Pro | 30 days | chat | 10 |
| Team | 30 days | phone | 50 |
| Legacy | 14 days | email | 5 |
"""
REFUNDS = "Refunds are paid within 30 days after the goods have come back to our warehouse in Berlin."
KEY = "New colleagues get their key on the first day at the desk on the ground floor."


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def carried(quote, old, new, document="billing", after=""):
    """Carry the label of a quote, the first one behind another text."""
    content = old[DocumentId(f"{document}.md")].content
    start = content.index(quote, content.index(after))
    return Carrier(old, new).carry(CharacterSpan(DocumentId(f"{document}.md"), start, start + len(quote), quote))


def found(quote, old, new, document="billing", after=""):
    """Carry a label that has to be found; return the document and the text there, with what stands before it."""
    result = carried(quote, old, new, document, after)
    assert result.span is not None, result
    content = new[result.span.doc_id].content
    assert content[result.span.start : result.span.end] == result.span.text
    return result.span.doc_id, result.span.text, content[: result.span.start]


BOTH = corpus_of(billing=BILLING, staff=STAFF, plans=PLANS)


def test_what_was_not_edited_is_unchanged():
    assert carried(REFUNDS, BOTH, BOTH).kind == "unchanged"


def test_what_was_edited_around_a_label_moves_it():
    new = corpus_of(billing=BILLING.replace("# Billing", "# Billing\n\nThis page is for customers."))
    assert found(REFUNDS, BOTH, new)[:2] == ("billing.md", REFUNDS)


def test_a_renamed_file_takes_its_labels_along():
    new = corpus_of(payments=BILLING.replace("first working", "last working"), staff=STAFF, plans=PLANS)
    assert found(REFUNDS, BOTH, new)[:2] == ("payments.md", REFUNDS)


def test_files_that_swap_their_names_keep_their_labels():
    new = corpus_of(billing=STAFF, staff=BILLING, plans=PLANS)
    assert found(REFUNDS, BOTH, new)[0] == "staff.md"
    assert found(KEY, BOTH, new, "staff")[0] == "billing.md"


def test_a_file_that_is_split_has_its_labels_in_both_parts():
    first, second = BILLING.split("## Limits")
    new = corpus_of(billing=first, limits=f"# Limits{second}", staff=STAFF)
    assert found(REFUNDS, BOTH, new)[0] == "billing.md"
    assert found("A single order holds at most 200 articles", BOTH, new)[0] == "limits.md"


def test_files_that_are_joined_have_the_labels_of_both():
    new = corpus_of(handbook=f"{BILLING}\n{STAFF}", plans=PLANS)
    assert found(REFUNDS, BOTH, new)[0] == found(KEY, BOTH, new, "staff")[0] == "handbook.md"


def test_a_paragraph_that_moves_to_another_file_is_followed():
    new = corpus_of(billing=BILLING.replace(f"{REFUNDS}\n\n", ""), staff=f"{STAFF}\n{REFUNDS}\n", plans=PLANS)
    assert found(REFUNDS, BOTH, new)[:2] == ("staff.md", REFUNDS)
    assert found("30 days", BOTH, new)[0] == "staff.md"


def test_paragraphs_in_another_order_are_followed():
    one, two, *rest = BILLING.split("\n\n")[1:]
    new = corpus_of(billing="\n\n".join(["# Billing", two, *rest, one]), staff=STAFF, plans=PLANS)
    assert found(REFUNDS, BOTH, new)[:2] == ("billing.md", REFUNDS)


def test_rows_in_another_order_are_followed():
    rows = PLANS.splitlines(keepends=True)
    new = corpus_of(billing=BILLING, staff=STAFF, plans="".join([*rows[:4], *reversed(rows[4:])]))
    assert found("30 days", BOTH, new, "plans", "Pro")[2].endswith("| Pro | ")
    assert found("14 days", BOTH, new, "plans", "Legacy")[2].endswith("| Legacy | ")


def test_paragraphs_that_are_wrapped_anew_keep_their_labels():
    wrapped = REFUNDS.replace(" after", "\nafter").replace(" warehouse", "\nwarehouse")
    new = corpus_of(billing=BILLING.replace(REFUNDS, wrapped), staff=STAFF, plans=PLANS)
    assert found(REFUNDS, BOTH, new)[:2] == ("billing.md", wrapped)


@pytest.mark.parametrize(
    "styled",
    [
        "**Refunds** are paid within `30` days after the goods have come back to our warehouse in Berlin.",
        "Refunds are paid [within 30 days](https://example.org/a/b) after the goods have come back to our warehouse "
        "in Berlin.",
        "Refunds are paid within 30 days after the goods have come back to our <b>warehouse</b> in Berlin.",
    ],
)
def test_a_text_in_another_style_keeps_its_label(styled):
    new = corpus_of(billing=BILLING.replace(REFUNDS, styled), staff=STAFF, plans=PLANS)
    assert found(REFUNDS, BOTH, new)[:2] == ("billing.md", styled.removeprefix("**").replace("Refunds**", "Refunds**"))


def test_a_translated_page_has_no_label_of_the_original():
    new = corpus_of(billing="# Abrechnung\n\nErstattet wird, sobald die Ware wieder im Lager ist.\n", staff=STAFF)
    assert carried(REFUNDS, BOTH, new).kind == "gone"


def test_a_page_that_is_edited_while_its_copy_goes_to_an_archive_keeps_its_label():
    archived = Document(DocumentId("archive/billing.md"), BILLING)
    edited = Document(DocumentId("billing.md"), BILLING.replace("first working day", "second day"))
    new = Corpus([archived, edited, *(document for document in BOTH if document.id != "billing.md")])
    assert found(REFUNDS, BOTH, new)[0] == "billing.md"


def test_what_went_with_the_edit_of_a_page_is_not_taken_from_its_archive():
    archived = Document(DocumentId("archive/billing.md"), BILLING)
    edited = Document(DocumentId("billing.md"), BILLING.replace(f"{REFUNDS}\n\n", ""))
    result = carried(REFUNDS, BOTH, Corpus([archived, edited]))
    assert (result.kind, result.span) == ("gone", None)
    assert result.proposal is not None
    assert result.proposal.doc_id == "archive/billing.md"


@pytest.mark.parametrize(
    ("edited", "there"),
    [
        (REFUNDS.replace("30 days", "14 days"), "14 days"),
        (REFUNDS.replace("30 days", "3.0 days"), "3.0 days"),
        (REFUNDS.replace("30 days", "30 working days"), "30 working days"),
        (REFUNDS.replace("30 days", "30–40 days"), "30–40 days"),
        (REFUNDS.replace("30 days", "-30 days"), "-30 days"),
        (REFUNDS.replace("30 days", "€30 days"), "€30 days"),
        (REFUNDS.replace("30 days", "~~30 days~~ 14 days"), "~~30 days~~"),
    ],
)
def test_a_changed_number_or_sign_is_a_change_that_a_person_has_to_see(edited, there):
    new = corpus_of(billing=BILLING.replace(REFUNDS, edited), staff=STAFF, plans=PLANS)
    for quote in (REFUNDS, "30 days"):
        result = carried(quote, BOTH, new)
        assert (result.kind, result.span) == ("changed", None), quote
        assert result.proposal is not None
        assert result.proposal.text in (edited, there, "30 days")


def test_a_changed_head_of_a_column_is_a_change():
    new = corpus_of(billing=BILLING, staff=STAFF, plans=PLANS.replace("| refund |", "| notice |"))
    result = carried("30 days", BOTH, new, "plans", "Pro")
    assert (result.kind, result.why) == ("changed", "another column")
    assert carried("chat", BOTH, new, "plans", "Pro").span is not None


def test_a_changed_head_of_a_csv_column_is_a_change():
    old, new = (Corpus([Document(DocumentId("a.csv"), text)]) for text in ("p,refund\nPro,30\n", "p,notice\nPro,30\n"))
    assert Carrier(old, new).carry(CharacterSpan(DocumentId("a.csv"), 13, 15, "30")).why == "another column"


def test_values_that_are_exchanged_are_changes():
    swapped = PLANS.replace("| Free | 14", "| Free | 99").replace("| Pro | 30", "| Pro | 14").replace("99", "30")
    result = carried("14 days", BOTH, corpus_of(billing=BILLING, staff=STAFF, plans=swapped), "plans", "Free")
    assert result.span is None


def test_of_a_chinese_page_each_clause_is_found_that_was_not_edited():
    text = "退款在三十天内支付给客户。货物必须寄回柏林仓库。客服在工作日回答问题。"
    old, new = corpus_of(billing=text), corpus_of(billing=text.replace("柏林", "汉堡"))
    assert found("退款在三十天内支付给客户", old, new)[1] == "退款在三十天内支付给客户"
    assert found("客服在工作日回答问题", old, new)[1] == "客服在工作日回答问题"
    result = carried("货物必须寄回柏林仓库", old, new)
    assert result.kind == "changed"
    assert result.proposal is not None
    assert result.proposal.text == "货物必须寄回汉堡仓库"


def test_where_two_places_would_fit_none_is_taken():
    two = f"{STAFF}\n{REFUNDS}\n\nOf both.\n\n{REFUNDS}\n"
    new = corpus_of(billing=BILLING.replace(f"{REFUNDS}\n\n", ""), staff=two, plans=PLANS)
    assert carried(REFUNDS, BOTH, new).span is None


def test_a_label_without_a_word_is_gone_as_soon_as_its_document_changes():
    old = corpus_of(billing=f"{BILLING}\n---\n")
    assert carried("---", old, old).kind == "unchanged"
    assert carried("---", old, corpus_of(billing=f"{BILLING}\nMore.\n\n---\n")).kind == "gone"


def test_what_replaced_the_last_words_of_a_line_is_what_is_proposed():
    new = corpus_of(
        billing=BILLING,
        staff=STAFF,
        plans=PLANS.replace("| Pro | 30 days | chat | 10 |", "| Pro | 30 days | chat | 12 |"),
    )
    result = carried("10", BOTH, new, "plans", "Pro")
    assert (result.kind, result.proposal and result.proposal.text) == ("changed", "12")
    new = corpus_of(billing=BILLING.replace(REFUNDS, "Refunds are paid at once."), staff=STAFF, plans=PLANS)
    result = carried(REFUNDS, BOTH, new)
    assert (result.kind, result.proposal and result.proposal.text) == ("changed", "Refunds are paid at once.")


def test_a_cell_that_is_empty_now_is_gone():
    new = corpus_of(billing=BILLING, staff=STAFF, plans=PLANS.replace("| chat | 10 |", "| chat |  |"))
    assert carried("10", BOTH, new, "plans", "Pro").proposal is None
