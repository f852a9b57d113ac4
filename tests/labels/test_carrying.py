"""Labels go where their words went: what people do to documents, one case each, as the guide lists them."""

import html
from functools import cached_property

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.corpus.readers.html import HtmlReader
from rag_evaluation_framework.labels.relabelling import Carrier
from rag_evaluation_framework.text.text_locator import SearchedTexts, TextLocator

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


PAGES = {"billing": BILLING, "staff": STAFF, "plans": PLANS}
BOTH = corpus_of(**PAGES)
WITHOUT = BILLING.replace(f"{REFUNDS}\n\n", "")
LIMITS = "A single order holds at most 200 articles"
HEAD, INVOICES, PAID, *LAST = BILLING.split("\n\n")
ROWS_OF_PLANS = PLANS.splitlines(keepends=True)
SPLIT = {"billing": BILLING.split("## Limits")[0], "limits": f"# Limits{BILLING.split('## Limits')[1]}", "plans": None}
JOINED = {"billing": None, "staff": None, "handbook": f"{BILLING}\n{STAFF}"}
MOVED = {"billing": WITHOUT, "staff": f"{STAFF}\n{REFUNDS}\n"}
TURNED = "".join([*ROWS_OF_PLANS[:4], *reversed(ROWS_OF_PLANS[4:])])
WRAPPED = REFUNDS.replace(" after", "\nafter").replace(" warehouse", "\nwarehouse")
BOLD = REFUNDS.replace("Refunds", "**Refunds**").replace("30", "`30`")
LINKED = REFUNDS.replace("within 30 days", "[within 30 days](https://example.org/a/b)")
TAGGED = REFUNDS.replace("warehouse", "<b>warehouse</b>")
MOVES = {
    "an edit around it": ({"billing": f"New.\n\n{BILLING}"}, REFUNDS, "billing", "billing.md", REFUNDS),
    "a new name": (
        {"billing": None, "payments": BILLING.replace("first working", "last working")},
        *(REFUNDS, "billing", "payments.md", REFUNDS),
    ),
    "swapped names, one": ({"billing": STAFF, "staff": BILLING}, REFUNDS, "billing", "staff.md", REFUNDS),
    "swapped names, other": ({"billing": STAFF, "staff": BILLING}, KEY, "staff", "billing.md", KEY),
    "split, first part": (SPLIT, REFUNDS, "billing", "billing.md", REFUNDS),
    "split, second part": (SPLIT, LIMITS, "billing", "limits.md", LIMITS),
    "joined, first part": (JOINED, REFUNDS, "billing", "handbook.md", REFUNDS),
    "joined, second part": (JOINED, KEY, "staff", "handbook.md", KEY),
    "a paragraph in another file": (MOVED, REFUNDS, "billing", "staff.md", REFUNDS),
    "a part of it": (MOVED, "30 days", "billing", "staff.md", "30 days"),
    "another order": (
        {"billing": "\n\n".join([HEAD, PAID, *LAST, INVOICES])},
        *(REFUNDS, "billing", "billing.md", REFUNDS),
    ),
    "lines wrapped anew": ({"billing": BILLING.replace(REFUNDS, WRAPPED)}, REFUNDS, "billing", "billing.md", WRAPPED),
    "bold": ({"billing": BILLING.replace(REFUNDS, BOLD)}, REFUNDS, "billing", "billing.md", BOLD.removeprefix("**")),
    "a link": ({"billing": BILLING.replace(REFUNDS, LINKED)}, REFUNDS, "billing", "billing.md", LINKED),
    "a tag": ({"billing": BILLING.replace(REFUNDS, TAGGED)}, REFUNDS, "billing", "billing.md", TAGGED),
    "a copy in an archive": (
        {"archive/billing": BILLING, "billing": BILLING.replace("first working day", "second day")},
        *(REFUNDS, "billing", "billing.md", REFUNDS),
    ),
}


def edited(changes):
    """Return the documents after changes of some, or of those that are gone: None."""
    return corpus_of(**{name: text for name, text in (PAGES | changes).items() if text is not None})


@pytest.mark.parametrize(("changes", "quote", "document", "where", "text"), MOVES.values(), ids=MOVES)
def test_a_label_goes_where_its_words_went(changes, quote, document, where, text):
    assert found(quote, BOTH, edited(changes), document)[:2] == (where, text)


@pytest.mark.parametrize(("quote", "row"), [("30 days", "Pro"), ("14 days", "Legacy")])
def test_rows_in_another_order_are_followed(quote, row):
    assert found(quote, BOTH, edited({"plans": TURNED}), "plans", row)[2].endswith(f"| {row} | ")


LOST = {
    "translated": (
        {"billing": "# Abrechnung\n\nErstattet wird, sobald die Ware wieder im Lager ist.\n", "plans": None},
        *(REFUNDS, "billing", "", "gone", None),
    ),
    "gone, but for its archive": (
        {"archive/billing": BILLING, "billing": WITHOUT},
        *(REFUNDS, "billing", "", "gone", ("archive/billing.md", REFUNDS)),
    ),
    "in two places": (
        {"billing": WITHOUT, "staff": f"{STAFF}\n{REFUNDS}\n\nOf both.\n\n{REFUNDS}\n"},
        *(REFUNDS, "billing", "", "gone", None),
    ),
    "a cell replaced": (
        {"plans": PLANS.replace("| chat | 10 |", "| chat | 12 |")},
        *("10", "plans", "Pro", "changed", ("plans.md", "12")),
    ),
    "a cell emptied": ({"plans": PLANS.replace("| chat | 10 |", "| chat |  |")}, "10", "plans", "Pro", "gone", None),
    "a line replaced": (
        {"billing": BILLING.replace(REFUNDS, "Refunds are paid at once.")},
        *(REFUNDS, "billing", "", "changed", ("billing.md", "Refunds are paid at once.")),
    ),
}


@pytest.mark.parametrize(("changes", "quote", "document", "after", "kind", "proposed"), LOST.values(), ids=LOST)
def test_a_label_whose_words_are_not_there_is_lost_and_what_replaced_it_proposed(
    changes, quote, document, after, kind, proposed
):
    result = carried(quote, BOTH, edited(changes), document, after)
    assert (result.kind, result.span) == (kind, None)
    assert (result.proposal and (result.proposal.doc_id, result.proposal.text)) == proposed


@pytest.mark.parametrize(
    ("edited", "proposed", "why"),
    [
        ("14 days", "14 days", ""),
        ("3.0 days", "3.0 days", ""),
        ("30 working days", "30 working days", ""),
        ("30–40 days", "30–40 days", ""),
        ("-30 days", "-30 days", "part of another word or number"),
        ("€30 days", "€30 days", "part of another word or number"),
        ("−40 days", "−40 days", ""),
        ("> 30 days", "> 30 days", "part of another word or number"),
        ("~40 days", "~40 days", ""),
        ("E-30 days", "E-30 days", "part of another word or number"),
        ("~~30 days~~ 14 days", "30 days", "struck out, raised or lowered"),
    ],
)
def test_a_changed_number_or_sign_is_a_change_that_a_person_has_to_see(edited, proposed, why):
    line = REFUNDS.replace("30 days", edited)
    new = corpus_of(billing=BILLING.replace(REFUNDS, line), staff=STAFF, plans=PLANS)
    result = carried("30 days", BOTH, new)
    assert (result.kind, result.span, result.why) == ("changed", None, why)
    assert result.proposal is not None
    assert result.proposal.text == proposed
    assert new[result.proposal.doc_id].content[: result.proposal.start].endswith(line[: line.index(proposed)])
    result = carried(REFUNDS, BOTH, new)
    assert (result.kind, result.span) == ("changed", None)
    assert result.proposal is not None
    assert result.proposal.text == line


# A value is about what its row and its column are about, however a table is written.

HEADS = ("plan", "note", "refund", "price")
ROWS = (
    ("Free", "five users, one admin", "14 days", "0 euros a month"),
    ("Pro, yearly", "ten users", "30 days", "49 euros a month"),
    ("Team", 'for "many", by phone', "30 days", "99 euros a month"),
    ("Legacy", "-", "14 days", "49 euros a month"),
)
TABLES = ("md", "html")


def table_in(kind, heads, rows):
    """Return a table among paragraphs, read as the formats are that have readers."""
    if kind == "html":
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in (heads, *rows))
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        return HtmlReader().read(f"<p>{KEY}</p><table>{table}</table><p>{REFUNDS}</p>".encode()).text
    return "\n".join([KEY, "", *(f"| {' | '.join(row)} |" for row in (heads, ("---",) * 4, *rows)), "", REFUNDS])


def carried_cell(kind, quote, row, heads, rows):
    """Carry the label of a cell, the first with a text behind the head of its row; return it and what is before it."""
    before, after = table_in(kind, HEADS, ROWS), table_in(kind, heads, rows)
    name, start = DocumentId(f"t.{kind}"), before.index(quote, before.index(row))
    old, new = (Corpus([Document(name, text)]) for text in (before, after))
    result = Carrier(old, new).carry(CharacterSpan(name, start, start + len(quote), quote))
    return result, after[after.rfind("\n", 0, result.span.start) + 1 : result.span.start] if result.span else ""


@pytest.mark.parametrize("kind", TABLES)
def test_cells_follow_their_rows_and_see_no_change_in_other_rows_and_columns(kind):
    rows = [*ROWS[:2], ("Start", "one, two", "7 days", "9 euros a month"), ROWS[3], ROWS[2]]
    heads = ("plan", "remark", "refund", "price")
    for row, quote in (("Pro", "30 days"), ("Team", "99 euros"), ("Legacy", "49 euros a month"), ("Team", "phone")):
        assert row in carried_cell(kind, quote, row, HEADS, rows)[1]
        assert carried_cell(kind, quote, row, heads, rows)[0].why == ("another column" if quote == "phone" else "")
    # Values that are exchanged are changes:
    rows = [(*row[:3], {"49": "99", "99": "49"}.get(row[3][:2], row[3][:2]) + row[3][2:]) for row in ROWS]
    for row, quote in (("Team", "99 euros a month"), ("Pro", "49 euros a month")):
        assert carried_cell(kind, quote, row, HEADS, rows)[0].span is None


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    ("heads", "renamed", "why"),
    [
        (("plan", "note", "refund", "discount"), {}, "another column"),
        (("plan", "note", "price", "refund"), {}, "another column"),
        (HEADS, {"Team": "Business"}, "another row"),
        (HEADS, {"Team": "Pro, yearly", "Pro, yearly": "Team"}, "another row"),
    ],
)
def test_under_or_beside_another_head_a_value_is_a_change(kind, heads, renamed, why):
    rows = [(renamed.get(row[0], row[0]), *row[1:]) for row in ROWS]
    for quote in ("99 euros a month", "99 euros"):
        result, _ = carried_cell(kind, quote, "Team", heads, rows)
        assert (result.kind, result.why) == ("changed", why)
        assert result.proposal is not None
        assert result.proposal.text == quote
    assert carried_cell(kind, "14 days", "Free", HEADS, rows)[0].span is not None


@pytest.mark.parametrize("kind", TABLES)
def test_a_label_of_several_cells_stays_under_the_heads_of_all_of_them(kind):
    row = table_in(kind, HEADS, ROWS).partition("Legacy")[2].partition("\n")[0]
    for heads, why in (((*HEADS[:3], "discount"), "another column"), (("name", *HEADS[1:]), "")):
        assert carried_cell(kind, row.strip(" |\t,-"), "Legacy", heads, ROWS)[0].why == why
    heads, quote = ("plan", "refund", "note", "price"), f"Legacy{row.rstrip(' |' + chr(9))}"
    result, _ = carried_cell(kind, quote, "Legacy", heads, ROWS)
    assert (result.kind, result.why) == ("changed", "another column")
    assert result.heads == ("plan | note | refund | price", "plan | refund | note | price")


@pytest.mark.parametrize("kind", TABLES)
def test_a_proposal_holds_no_more_cells_than_its_label(kind):
    rows = [*ROWS[:2], ("Team", 'for "many", by phone', "31 days", "98 dollars a week"), ROWS[3]]
    for quote, proposed in (("30 days", "31 days"), ("99 euros a month", "98 dollars a week")):
        result, _ = carried_cell(kind, quote, "Team", HEADS, rows)
        assert (result.kind, result.proposal and result.proposal.text) == ("changed", proposed)


KEYED = {
    "md": [
        "- **{}**: {}",
        "- **{}:** {}",
        "{}: {}\n",
        "1. {} – {}",
        "{} = {}",
        "<dt>{}</dt><dd>{}</dd>",
        "<dt>{}</dt>\n<dd>{}</dd>",
        "{}\n: {}\n",
    ],
    "rst": [":{}: {}", "* **{}**: {}"],
    "txt": ["{}: {}"],
    "html": ["<dt>{}</dt><dd>{}</dd>", "<li><b>{}</b>: {}</li>", "<p>{}: {}</p>"],
}


@pytest.mark.parametrize(("kind", "form"), [(kind, form) for kind, forms in KEYED.items() for form in forms])
def test_a_value_stays_with_its_key(kind, form):
    def corpus(*pairs):
        text = "\n\n".join([KEY, "\n".join(form.format(*pair) for pair in pairs), REFUNDS])
        text = HtmlReader().read(text.encode()).text if kind == "html" else text
        return Corpus([Document(DocumentId(f"t.{kind}"), text)])

    team, pro = "49 euros a month for each user", "99 euros a month for each user"
    old = corpus(("Team", team), ("Pro", pro))
    content = old.documents[0].content
    for quote in (team, "49 euros a month", "49 euros"):
        start = content.index(quote)
        span = CharacterSpan(old.documents[0].id, start, start + len(quote), quote)
        for edited in (corpus(("Pro", team), ("Team", pro)), corpus(("Business", team), ("Pro", pro))):
            result = Carrier(old, edited).carry(span)
            assert (result.kind, result.why) == ("changed", "another row")
            assert (result.proposal and result.proposal.text) == quote
        for edited in (
            corpus(("Free", "0 euros"), ("Team", team), ("Pro", pro)),
            corpus(("Pro", pro), ("Team", team)),
            corpus(("Team", f"{team}, and more"), ("Pro", pro)),
        ):
            assert Carrier(old, edited).carry(span).span is not None, edited.documents[0].content


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- **Team**: within 30 days", "* Team: within 30 days"),
        ("Refunds after the goods\ncame back: within 30 days", "Refunds after the\ngoods came back: within 30 days"),
        ("Note: refunds are paid to all\nwithin 30 days", "Note: refunds are paid to\nall within 30 days"),
        ("Note: refunds are paid to\nall within 30 days", "Note: refunds are paid to all\nwithin 30 days"),
        ("We pay refunds within 30 days. See: below", "We always pay refunds within 30 days. See: below"),
        ("In shops: within 30 days. Write to us.", "Everywhere: within 30 days. Write to us."),
        ("Of refunds. They come: within 30 days", "Of all refunds. They come: within 30 days"),
    ],
)
def test_prose_with_a_colon_may_be_wrapped_and_edited(before, after):
    old, new = (corpus_of(a=f"{KEY}\n\n{text}\n\n{REFUNDS.replace('30', '60')}\n") for text in (before, after))
    assert found("30 days", old, new, "a")[1] == "30 days"


def test_of_a_chinese_page_each_clause_is_found_that_was_not_edited():
    text = "退款在三十天内支付给客户。货物必须寄回柏林仓库。客服在工作日回答问题。"
    old, new = corpus_of(billing=text), corpus_of(billing=text.replace("柏林", "汉堡"))
    assert found("退款在三十天内支付给客户", old, new)[1] == "退款在三十天内支付给客户"
    assert found("客服在工作日回答问题", old, new)[1] == "客服在工作日回答问题"
    result = carried("货物必须寄回柏林仓库", old, new)
    assert result.kind == "changed"
    assert result.proposal is not None
    assert result.proposal.text == "货物必须寄回汉堡仓库"


def test_in_documents_as_they_were_a_label_is_unchanged_and_one_without_a_word_is_gone_from_others():
    old = corpus_of(billing=f"{BILLING}\n---\n")
    assert carried(REFUNDS, BOTH, BOTH).kind == carried("---", old, old).kind == "unchanged"
    assert carried("---", old, corpus_of(billing=f"{BILLING}\nMore.\n\n---\n")).kind == "gone"


@pytest.mark.parametrize(
    ("quote", "after", "now"),
    [
        ("at mo", "holds ", "at most"),
        ("at mo", "holds ", "at 9"),
        ("dles ", "han", "handles "),
        ("dles ", "han", "is "),
    ],
)
def test_a_label_that_ends_inside_a_word_has_all_of_another_word(quote, after, now):
    old = corpus_of(limits="The warehouse handles 20 orders. An order holds at most 200 articles.")
    word = now.split()[-1] if quote.startswith("at") else now.strip()
    edited = "The warehouse {} 20 orders. An order holds at {} 200 articles."
    new = corpus_of(limits=edited.format(*(("handles", word) if quote.startswith("at") else (word, "most"))))
    result = carried(quote, old, new, "limits", after)
    place = result.span or result.proposal
    assert place.text == (quote if word in ("most", "handles") else now)


def test_locators_are_made_once_however_many_labels_are_lost(monkeypatch):
    made = []
    monkeypatch.setattr(TextLocator, "_exact", cached_property(lambda self: made.append(1) or SearchedTexts([])))
    TextLocator._exact.__set_name__(TextLocator, "_exact")
    old = corpus_of(billing=BILLING, staff=STAFF)
    carrier = Carrier(old, corpus_of(billing="# Nothing\n"))
    for quote, document in ((REFUNDS, "billing"), (KEY, "staff"), ("Holidays are asked for", "staff")):
        start = old[DocumentId(f"{document}.md")].content.index(quote)
        assert carrier.carry(CharacterSpan(DocumentId(f"{document}.md"), start, start + len(quote))).kind == "gone"
    assert len(made) == 1


def test_sentences_that_exchanged_their_values_keep_their_headings():
    text = "## {}\n\nThe plan is paid monthly and includes {} seats.\n\n"
    old = corpus_of(plans=text.format("Starter", 5) + text.format("Business", 50))
    new = corpus_of(plans=text.format("Starter", 50) + text.format("Business", 5))
    result = carried("The plan is paid monthly and includes 5 seats.", old, new, "plans")
    assert (result.kind, result.span) == ("changed", None)
    assert result.proposal.text == "The plan is paid monthly and includes 50 seats."
    moved = "Questions about it are answered within a day by our office in Ulm."
    new = corpus_of(plans=text.format("Starter", 5) + text.format("Business", 50) + moved)
    old = corpus_of(plans=text.format("Starter", 5) + moved + "\n\n" + text.format("Business", 50))
    assert carried(moved, old, new, "plans").kind == "moved"


@pytest.mark.parametrize("name", ["plans.docx", "plans.tsv", "plans.html"])
def test_the_head_of_a_column_counts_wherever_tabs_part_cells(name):
    text = "Plan\t{}\t{}\nStarter\t10\t20"
    old, new = (
        Corpus([Document(DocumentId(name), text.format(*heads))]) for heads in (("Price", "Seats"), ("Seats", "Price"))
    )
    start = text.format("Price", "Seats").index("10")
    result = Carrier(old, new).carry(CharacterSpan(DocumentId(name), start, start + 2, "10"))
    assert (result.kind, result.why) == ("changed", "another column")
