"""Whether a label is found by what stands around it now, edit by edit.

⟦…⟧ marks a label where it was and where it has to be found; an edit without marks has to lose it.
"""

import re
from functools import partial
from itertools import permutations

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.labelling.anchors import anchors_of, known_documents
from rag_evaluation_framework.labelling.reanchor import reanchor
from rag_evaluation_framework.testing.chunkers import assert_linear
from support.each import each

MARKED = re.compile(r"⟦(.*?)⟧", re.DOTALL)


def found_again(name, before, after):
    """The offset at which a label is found, and that at which it has to be; None for lost."""
    expected = MARKED.search(after)
    label = MARKED.search(before)
    was, now = (
        Corpus([Document(DocumentId(name), text.replace("⟦", "").replace("⟧", ""))]) for text in (before, after)
    )
    span = CharacterSpan(DocumentId(name), label.start(), label.start() + len(label[1]), label[1])
    (result,) = reanchor(anchors_of([span], was), now, known_documents([name], was))
    return result.span and result.span.start, expected and expected.start()


PLANS = (
    "| Plan | Price | Users |\n|---|---|---|\n| Free | 0 EUR | 1 |\n| Basic | 9 EUR | 5 |\n| Team | ⟦29 EUR⟧ | 25 |\n"
    "| Large | 99 EUR | 100 |\n\nAll without tax.\n"
)
LIMITS = (
    "Limits as of today:\n\n- Requests per minute: ⟦60⟧\n- Size of a file: 20 MB\n- Files per project: 500\n"
    "- Projects per account: 10\n\nWrite to the sales team to have them raised.\n"
)
SETTINGS = "```\nhost: db.example.org\nport: ⟦5432⟧\nuser: reader\ntimeout: 30\n```\n"
FAQ = (
    "# FAQ\n\n## Can I pay by invoice?\n\nNo.\n\n## How long are backups kept?\n\n⟦30 days⟧\n\n"
    "## Is there an app for phones?\n\nYes.\n"
)
COUNTRIES = "country,delivery,price\nGermany,two days,4.90\nFrance,⟦four days⟧,7.90\nSpain,five days,9.90\n"
DELIVERY = (
    "# Delivery\n\nWe ship from our own warehouse. The standard delivery takes ⟦four days⟧ in the whole country. "
    "Express delivery takes one day and costs 9 EUR.\n"
)


@each(
    ("name", "page", "old", "new"),
    [
        ("a.md", PLANS, "⟦29 EUR⟧", "**⟦29 EUR⟧**"),
        ("a.md", PLANS, "⟦29 EUR⟧", "[⟦29 EUR⟧](p.md)"),
        ("a.md", PLANS, "⟦29 EUR⟧", "`⟦29 EUR⟧`[^1]"),
        ("a.md", PLANS, "| Team | ⟦29 EUR⟧ | 25 |", "| Start | 19 EUR | 9 |\n| **Team** | ⟦29 EUR⟧ | 30 |"),
        ("a.md", PLANS, "⟦29 EUR⟧ | 25 |\n", "⟦29 EUR⟧ | 25 |\n| Huge | 29 EUR | 900 |\n"),
        ("a.md", LIMITS, "- Requests", "- Calls per second: 2\n- Requests"),
        ("a.md", LIMITS, "- Size of", "- Uploads: 60\n- Size of"),
        ("a.md", LIMITS, "- Size of a file: 20 MB", "- Size of files: 30 MB"),
        ("a.md", SETTINGS, "port", "database: main\nport"),
        ("a.md", SETTINGS, "⟦5432⟧\nuser: reader\ntimeout: 30\n", "⟦5432⟧,\ntimeout: 30\nuser: reader\n"),
        ("a.md", FAQ, "## Is there an app", "## How long are logs kept?\n\n30 days\n\n## Is there an app"),
        (
            "a.md",
            FAQ,
            "# FAQ\n",
            "# FAQ\n\n- Can I pay by invoice?\n- How long are backups kept?\n- Is there an app for phones?\n",
        ),
        ("a.md", FAQ, "## How long are backups kept?", "**How long are backups kept?**"),
        ("a.md", DELIVERY, "We ship from our own warehouse. ", ""),
        (
            "a.md",
            "# Run\n\n1. Open the settings\n    of [it](s.md) and pay ⟦5 EUR⟧\n    to the team of us.\n2. Close it.\n",
            "to the team",
            "for the team",
        ),
        ("a.md", DELIVERY, "standard delivery takes ⟦four days⟧", "standard delivery\ntakes\n**⟦four days⟧**"),
    ],
)
def test_a_short_label_is_found_where_what_says_what_it_is_about_is_there(name, page, old, new):
    assert old in page
    got, expected = found_again(name, page, page.replace(old, new))
    assert got == expected is not None


@each(
    ("name", "page", "old", "new"),
    [
        ("a.md", PLANS, "Team", "Gold"),
        ("a.md", PLANS, "⟦29 EUR⟧", "29 EUR to 39 EUR"),
        ("a.md", PLANS, "⟦29 EUR⟧ | 25 |\n", "39 EUR | 25 |\n| Huge | 29 EUR | 900 |\n"),
        ("a.md", LIMITS, "Requests per minute: ⟦60⟧", "Uploads: 60"),
        ("a.md", LIMITS, "⟦60⟧", "60 to 90"),
        ("a.md", LIMITS, "⟦60⟧", "120\n- Uploads: 60"),
        (
            "a.md",
            LIMITS.replace("Write", "{}Write"),
            "⟦60⟧",
            "120",
        ),
        ("a.md", SETTINGS, "port", "debug_port"),
        ("a.md", FAQ, "How long are backups kept?", "How long is the trial?"),
        ("a.md", FAQ, "⟦30 days⟧", "60 days\n\n## How long are logs kept?\n\n30 days"),
        ("a.md", DELIVERY, "takes ⟦four days⟧", "never takes four days"),
        ("a.md", DELIVERY.replace("delivery takes", "delivery\ntakes"), "delivery\n", "delivery never\n"),
        ("a.md", DELIVERY, "The standard delivery takes", "A refund needs"),
        (
            "a.md",
            DELIVERY,
            "⟦four days⟧ in the whole country. Express delivery takes one day and costs 9 EUR.\n",
            "three days in the whole country. Express delivery takes one day and costs 9 EUR.\n\n## Archive\n\nWe "
            "ship from our own warehouse. The standard delivery takes four days in the whole country. "
            "Express delivery takes one day.\n",
        ),
        (
            "a.md",
            LIMITS.replace("⟦60⟧", "9").replace("10\n\nWrite to the sales team to have them raised.", "⟦10⟧"),
            "⟦10⟧",
            "10 or 12",
        ),
        ("a.tsv", COUNTRIES.replace(",", "\t"), "⟦four days⟧", "four days, from June six"),
        ("a.csv", COUNTRIES, "⟦four days⟧", "four days; in June six"),
        (
            "a.md",
            DELIVERY,
            "⟦four days⟧ in the whole country.",
            "three days in the whole country. Until March the standard delivery takes four days in the whole country.",
        ),
    ],
)
def test_and_lost_where_it_is_not(name, page, old, new):
    history = "Before March:\n\n- Requests per minute: 60\n- Size of a file: 20 MB\n\n"
    was, now = page.format(""), page.replace(old, new).format(history).replace("⟦", "").replace("⟧", "")
    assert found_again(name, was, now) == (None, None)


REFUNDS = "Refunds for subscriptions take ⟦14 days⟧. Exchanges of subscriptions take 30 days.\n"
SERVER = "## Server\n\n- Port: 8080\n- Timeout: {}\n\n"
CLIENT = "## Client\n\n- Port: 9090\n- Timeout: ⟦45 s⟧\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (REFUNDS, "Refunds for subscriptions are instant. Exchanges of subscriptions take 14 days.\n"),
        (REFUNDS.replace(". ", ".\n\n"), "Refunds are instant.\n\nExchanges of subscriptions take 14 days.\n"),
        (REFUNDS.replace("Refunds for s", "S"), "They are instant. Exchanges of subscriptions take 14 days.\n"),
        (REFUNDS, "All refunds for subscriptions take 14 days. Exchanges of subscriptions take 30 days.\n"),
        (f"The {REFUNDS}", f"All {REFUNDS}"),
        (REFUNDS, REFUNDS.replace("take 30 days", "are refused")),
        (REFUNDS.replace("take ⟦14", "take\n⟦14"), "We pay. " + REFUNDS.replace("Exchanges of", "No")),
        (REFUNDS.replace("take ⟦14", "take\n⟦14"), "They are free.\nAll exchanges of subscriptions take\n14 days.\n"),
    ],
)
def test_a_sentence_is_that_which_begins_so_or_goes_on_so(before, after):
    got, expected = found_again("a.txt", before, after)
    assert got == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SERVER.format("30 s") + CLIENT, SERVER.format("45 s")),
        ("## Free plan\n\n- Storage: ⟦5 GB⟧\n\n## Team plan\n\n- Storage: 9 GB\n", "## Team plan\n\n- Storage: 5 GB\n"),
        (CLIENT, CLIENT.replace("9090", "80").replace("Client", "New client")),
        (CLIENT, CLIENT.replace("9090", "80").replace("## Client\n", "")),
        (
            CLIENT + "- User: 1\n- Host: a\n",
            CLIENT.replace("9090", "80").replace("Client", "App") + "- User: 1\n- Host: a\n",
        ),
        (CLIENT, CLIENT.replace("9090", "80").replace("- Timeout", "- Host: a\n- Timeout")),
    ],
)
def test_a_row_is_one_below_its_heading_or_above_the_rows_that_follow(before, after):
    got, expected = found_again("a.md", before, after)
    assert got == expected


HEADS = {
    "## {}\n\n": "- {}: {}\n",
    "## {}:\n\n": "- {}: {}\n",
    "**{}**\n\n": "- {}: {}\n",
    "{}:\n": "  {}: {}\n",
    "[{}]\n": "{} = {}\n",
    "- {}\n": "  - {}: {}\n",
    "## {}\n\n| Key | Value |\n|---|---|\n": "| {} | {} |\n",
}


def section(head, name, **values):
    return head.format(name) + "".join(HEADS[head].format(*pair) for pair in values.items()) + "\n"


@pytest.mark.parametrize("head", HEADS)
def test_a_row_that_several_sections_have_is_only_followed_in_its_section(head):
    server, worker = (
        section(head, "Server", Port=8080, Timeout="30 s"),
        section(head, "Worker", Port=7070, Timeout="60 s"),
    )
    client = section(head, "Client", Port="⟦9090⟧", Timeout="45 s")
    last = section(head, "Client", Port=9090, Timeout="⟦45 s⟧")
    dropped = section(head, "Server", Port=8080, Timeout="45 s") + worker
    assert found_again("a.md", server + last + worker, dropped) == (None, None)
    taken = section(head, "Server", Port=9090, Timeout="30 s") + worker
    assert found_again("a.md", server + client + worker, taken) == (None, None)
    more = [text.replace("Timeout", "Host") for text in (server, worker)]
    got, expected = found_again("a.md", server + client + worker, more[0] + client + more[1])
    assert got == expected is not None


def test_rows_of_a_table_whose_other_cells_were_edited_are_found_by_their_names():
    rows = ["Free", "Team", "Business", "Enterprise", "Public sector"]
    for number in range(len(rows)):
        lines = [
            f"| {name} | {'⟦' * (at == number)}{at}99 EUR per month{'⟧' * (at == number)} |"
            for at, name in enumerate(rows)
        ]
        page = "# Prices\n\n| Plan | Price | Seats |\n|---|---|---|\n{}\n"
        before, after = (
            page.format("\n".join(f"{line} {at + add} |" for at, line in enumerate(lines))) for add in (1, 5)
        )
        got, expected = found_again("a.md", before, after)
        assert got == expected is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We are many.\n\nSupport is open from ⟦9 to 17⟧.\n", "We are many.\n\nOur support is open from ⟦9 to 17⟧.\n"),
        ("## Sales\nThe phone number of sales is ⟦4711⟧.\n", "## Sales team\nThe phone number of sales is ⟦4711⟧.\n"),
        (
            "Names are short.\n\nThey may have ⟦64 characters⟧.\n",
            "Names are short.\n\nThey may have 64 characters or digits.\n",
        ),
        (
            "# Free\n\n## Notice\n\n1 month\n\n# Team\n\n## Notice\n\n⟦3 months⟧\n\n# More\n\nAsk us.\n",
            "# Free\n\n## Notice\n\n3 months\n\n# More\n\nAsk us.\n",
        ),
    ],
)
def test_at_the_end_of_a_document_its_end_is_what_is_behind(before, after):
    got, expected = found_again("a.md", before, after)
    assert got == expected


TEMPLATE = "### {}\n\n#### Description\n\n{}\n\n"


def test_long_texts_below_a_line_of_a_template_are_found_in_any_order_of_the_sections():
    texts = {
        "Users": "Returns all users of the account, the newest ones first.",
        "Jobs": "Starts a job; it fails if three others are running already.",
        "Tokens": "Removes a token for good, and whatever was made with it.",
    }
    pages = ["".join(TEMPLATE.format(name, texts[name]) for name in order) for order in permutations(texts)]
    for text in texts.values():
        for page in pages:
            got, expected = found_again("a.md", pages[0].replace(text, f"⟦{text}⟧"), page.replace(text, f"⟦{text}⟧"))
            assert got == expected is not None


@pytest.mark.parametrize(
    ("name", "head", "row", "foot"),
    [
        ("a.md", "## {}\n\n| Key | Value |\n|---|---|\n", "| {} | {} |\n", "\n"),
        ("a.md", "## {}\n\n", "**What is the {}?**\n\nIt is {}.\n\n", ""),
        ("a.rst", "{}\n------\n\n", ":{}: {}\n", "\n"),
    ],
)
def test_labels_whose_surroundings_are_as_they_were_are_found_in_sections_of_one_form(name, head, row, foot):
    values = {
        "Server": ("8080", "30 s", "alpha"),
        "Client": ("9090", "45 s", "beta"),
        "Worker": ("7070", "60 s", "gamma"),
    }
    page = "".join(
        head.format(title) + "".join(map(row.format, ("Port", "Timeout", "Host"), some)) + foot
        for title, some in values.items()
    )
    for value in (value for some in values.values() for value in some):
        before = f"First.\n\n{page.replace(value, f'⟦{value}⟧')}\nThese are the last words of the page, as it was.\n"
        got, expected = found_again(name, before, f"New.\n\n{before}\nNew, too.\n")
        assert got == expected is not None, value


def test_a_sentence_that_every_section_has_tells_no_section():
    text = "## {}\n\nThe price is {}. The storage is {}.\n\n"
    sections = [("Free", "0 EUR", "5 GB"), ("Team", "29 EUR", "⟦50 GB⟧"), ("Business", "99 EUR", "2 TB")]
    before = "".join(text.format(*section) for section in sections)
    taken = "".join(text.format(*section) for section in [("Free", "0 EUR", "50 GB"), sections[2]])
    assert found_again("a.md", before, taken) == (None, None)
    got, expected = found_again("a.md", before, before.replace("2 TB", "3 TB"))
    assert got == expected is not None


def test_a_row_that_several_sections_have_is_followed_to_the_new_name_of_its_document():
    head = "## {}\n\n"
    page = section(head, "Free", Storage="5 GB") + section(head, "Team", Storage="50 GB", Seats=10)
    was, now = (
        Corpus([Document(DocumentId(name), text)]) for name, text in [("a.md", page), ("b.md", f"{page}More.\n")]
    )
    start = page.index("50 GB")
    (anchor,) = anchors_of([CharacterSpan(DocumentId("a.md"), start, start + 5, "50 GB")], was)
    assert anchor.unique_with == "text among others"
    assert reanchor([anchor], now, known_documents(["a.md"], was))[0].how == "renamed"


LIST_TABLE = (
    "Plans\n=====\n\n.. list-table::\n   :header-rows: 1\n\n   * - Plan\n     - Price\n     - Users\n   * - Free\n"
    "     - 0 EUR\n     - 1\n   * - Team\n     - ⟦29 EUR⟧\n     - 10\n   * - Large\n     - 99 EUR\n     - 100\n"
)
TRIAL = (
    "## Free\n\nFor one.\n\nDo you have a trial?\n\n{}\n\n## Team\n\nFor many people.\n\nDo you have a trial?\n\n{}\n\n"
    "## Enterprise\n\nAsk for it.\n"
)
ALTOGETHER = "Yes, it lasts for thirty days altogether."


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.rst", LIST_TABLE, LIST_TABLE.replace("   * - Large", "   * - Pro\n     - 49 EUR\n     - 50\n   * - Large")),
        (
            "a.md",
            PLANS,
            PLANS.replace("| 9 EUR | 5 |", "| 8 EUR | 6 |").replace("| Large", "| Team Plus | 59 EUR | 90 |\n| Large"),
        ),
        (
            "a.md",
            "## Sales\nOur phone number is ⟦4711⟧.\n\nAsk us.\n",
            "## Sales team\nOur phone number is ⟦4711⟧.\n\nNobody else answers.\n",
        ),
        ("a.md", TRIAL.format("Yes, for a week.", f"⟦{ALTOGETHER}⟧"), TRIAL.format(ALTOGETHER, "Yes, for sixty days.")),
        ("a.txt", "Gamma delta epsilon ⟦zeta⟧.\n", "Gamma delta epsilon zeta.\nGamma delta epsilon zeta.\n"),
    ],
)
def test_all_that_is_known_tells_and_what_stands_twice_does_not(name, before, after):
    got, expected = found_again(name, before, after)
    assert got == expected


PRICING = (
    "# Pricing\n\n| Plan | Price | Seats |\n|---|---|---|\n| Free | €0 | 1 |\n| Team | {team} | 10 |\n"
    "| Business | {business} | 50 |\n\n## Team\n\n- Storage: {storage}\n- Support: by mail\n\n"
    "## Business\n\nTeam prices are per seat.\n\n- Storage: 900 GB\n- Support: by telephone\n"
)
CONTRACT = (
    "# Contract\n\n## Fees\n\n5 EUR per month\n\n## Notice\n\n{notice}\n\n## Court\n\n{court}\n\n"
    "## Language\n\nThat of the German text counts.\n"
)


@pytest.mark.parametrize("name", ["team", "business", "storage"])
def test_a_row_has_its_name_by_itself_and_not_what_else_begins_so(name):
    values = {"team": "€49", "business": "€199", "storage": "20 GB"}
    page = PRICING.format(**{**values, name: f"⟦{values[name]}⟧"})
    edits = [
        ("| Business |", "| Pro | €99 | 25 |\n| Team Plus | €79 | 20 |\n| Business |"),
        ("- Support", "- Backups: daily\n- Support"),
    ]
    for old, new in edits:
        page = page.replace(old, new)
    got, expected = found_again("a.md", PRICING.format(**{**values, name: f"⟦{values[name]}⟧"}), page)
    assert got == expected is not None


@pytest.mark.parametrize(
    "before", [CONTRACT, CONTRACT.replace("## Court", "Court\n-----").replace("## Notice", "Notice\n------")]
)
@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("5 EUR per month", "6 USD per year", (True, True)),
        ("## Notice", "## Trial\n\n1 month\n\n## Notice", (True, True)),
        ("Notice\n", "Trial\n", (False, True)),
        ("5 EUR per month", "None", (True, True)),
    ],
)
def test_a_short_text_right_below_its_heading_is_told_by_that_and_what_is_behind_it(before, old, new, is_found):
    values = {"notice": "3 months", "court": "Berlin, Germany"}
    for (name, value), expects in zip(values.items(), is_found, strict=True):
        page = before.format(**{**values, name: f"⟦{value}⟧"})
        got, expected = found_again("a.md", page, page.replace(old, new))
        assert got == (expected if expects else None), name


SWAPPED = "# Handbook\n\nThis page is about our products.\n\n## {}\n\n{}\n\n## {}\n\n⟦{}⟧\n{}"


@each("tail", ["", "\n## Other\n\nNothing else is told.\n", "\n© Acme 2025\n"])
@each("heads", [("Staging", "Production"), ("Free plan", "Team plan"), ("A", "B")])
@each("new", ["They run every night at two o'clock.", "Nobody does that any more."])
def test_a_text_is_not_followed_to_where_another_stood_if_its_own_place_has_another_now(heads, new, tail):
    first, second = "They run every night at two o'clock.", "They are started by hand after a review."
    before = SWAPPED.format(heads[0], first, heads[1], second, tail)
    after = SWAPPED.format(heads[0], second, heads[1], new, tail).replace("⟦", "").replace("⟧", "")
    assert found_again("a.md", before, after)[0] is None


LINES = [
    ("a.md", "```\nhost: db.example.org\n⟦port: 5432⟧\nuser: reader\n```\n", "database: main\n"),
    ("a.py", 'host = "db.example.org"\n⟦port = 5432⟧\nuser = "reader"\nconnect()\n', 'schema = "main"\n'),
    ("a.txt", "Name: Acme Limited of Ghent\n⟦Phone: 555-0100⟧\nMail: info@example.org\n", "Founded: 1999\n"),
    ("a.csv", "plan,price,users\nBasic plan,9 EUR,5\n⟦Team,29 EUR,25⟧\nLarge,99 EUR,100\n", "Start,19 EUR,10\n"),
    (
        "a.rst",
        "Fields\n\n:Name: Acme Limited of Ghent\n⟦:Phone: 555-0100⟧\n:Mail: info@example.org\n",
        ":Founded: 1999\n",
    ),
]


@pytest.mark.parametrize(("name", "page", "inserted"), LINES)
def test_a_row_that_is_a_label_is_found_behind_a_new_one(name, page, inserted):
    got, expected = found_again(name, page, page.replace("⟦", f"{inserted}⟦"))
    assert got == expected is not None


def test_a_sentence_on_a_line_of_its_own_is_no_row():
    page = "Refunds are made daily.\n⟦Not on Sundays.⟧\nAll of this holds until the end of the year.\n"
    assert found_again("a.txt", page, page.replace("daily", "weekly; calls are taken, too").replace("⟦", "")) == (
        None,
        None,
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", "- {}\n\n  {}\n\n"),
        ("a.md", "{}\n\n{}\n\n"),
        ("a.md", "{}\n{}\n\n"),
        ("a.md", "__{}__\n\n{}\n\n"),
        ("a.md", "> {}\n\n{}\n\n"),
        ("a.md", "| {} |\n|---|\n| {} |\n\n"),
    ],
)
def test_a_short_value_is_not_that_of_what_was_inserted_below(name, form):
    pages = [
        "".join(form.format(*pair) for pair in pairs)
        for pairs in (
            [("What the Basic costs", "⟦5 EUR⟧"), ("What the Large costs", "9 EUR")],
            [
                ("What the Basic costs", "7 EUR"),
                ("Fee of a Medium one", "5 EUR"),
                ("What the Large costs you", "9 EUR"),
            ],
        )
    ]
    assert found_again(name, *pages) == (None, None)


QUESTION, ANSWER = "Is there an app for phones?", "There are apps for Android and for iOS."
QUESTIONS = f"# FAQ\n\n## {QUESTION}\n\n⟦{ANSWER}⟧\n\n## Can I pay by invoice?\n\nNo.\n"
FORMS = [
    ("a.md", "## {}\n\n{}\n\n"),
    ("a.md", "**{}**\n\n{}\n\n"),
    ("a.md", "Q: {}\nA: {}\n\n"),
    ("a.md", "## {} {{#x}}\n\n{}\n\n"),
    ("a.md", "- {}\n  - {}\n"),
    ("a.md", "| {} | {} |\n"),
    ("a.md", "{}\n: {}\n\n"),
    ("a.rst", "{}\n-----------\n\n{}\n\n"),
]


@each(("name", "form"), FORMS)
def test_a_long_answer_that_was_given_to_another_question_is_lost(name, form):
    first, last = ("Who writes all of this?", "We."), ("Can I pay by invoice?", "No.")
    pages = [
        "".join(form.format(*pair) for pair in (first, *pairs, last))
        for pairs in (
            [(QUESTION, f"⟦{ANSWER}⟧")],
            [(QUESTION, "No, but one is planned."), ("Is there an app for tablets?", ANSWER)],
        )
    ]
    assert found_again(name, *pages) == (None, None)


@each(
    ("old", "new"),
    [
        ("⟦", "- ⟦"),
        ("⟦", "> ⟦"),
        (f"⟦{ANSWER}⟧", f"**⟦{ANSWER}⟧**"),
        ("⟦", "<!-- checked -->\n⟦"),
        (f"## {QUESTION}", f"**{QUESTION}**"),
        ("phones?", "phones? ##"),
        ("phones?", "phones? {#app}"),
        (f"## {QUESTION}", f"{QUESTION}\n-----"),
        (QUESTION, "Do you have an application for mobile devices?"),
        ("⟦", "Of course! ⟦"),
        ("⟦", "We are often asked this.\n\n⟦"),
    ],
)
def test_a_long_answer_is_found_below_its_question_whatever_is_written_around_it(old, new):
    got, expected = found_again("a.md", QUESTIONS, QUESTIONS.replace(old, new))
    assert got == expected is not None


ROWS = "| Region | Delivery | Note |\n|---|---|---|\n| DE | {} | - |\n| FR | ⟦{}⟧ | - |\n| ES | {} | - |\n"
VALUES = ["four working days with the train", "six working days by the lorry", "nine working days by the ship"]


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (2, 0, 1)])
def test_a_long_value_that_was_exchanged_with_that_of_another_row_is_lost(order):
    after = ROWS.format(*(VALUES[number] for number in order)).replace("⟦", "").replace("⟧", "")
    assert found_again("a.md", ROWS.format(*VALUES), after) == (None, None)


def test_a_long_value_is_found_in_its_row_under_another_name():
    page = ROWS.format(*VALUES)
    got, expected = found_again("a.md", page, page.replace("| FR |", "| France |"))
    assert got == expected is not None


def test_values_of_sections_with_the_same_sentence_that_were_exchanged_are_lost():
    page = "".join(
        f"## {name}\n\nA pump for {where}.\n\nThe price is {{}} per month. It weighs {weight} kg.\n\n"
        for name, where, weight in (("Alpha", "fields", 2), ("Beta", "the house", 3))
    )
    assert found_again("a.md", page.format("⟦10 EUR⟧", "275 EUR"), page.format("275 EUR", "10 EUR")) == (None, None)


def test_the_first_item_below_one_line_is_not_that_below_another():
    form = "{} plan of it:\n\n- {}\n\n"
    pages = [
        "".join(form.format(*plan) for plan in plans)
        for plans in (
            [("Small", "4 EUR"), ("Middle", "⟦5 EUR⟧"), ("Large and extended", "9 EUR")],
            [("Small", "4 EUR"), ("Middle", "7 EUR"), ("Plus", "5 EUR"), ("Large and extended", "9 EUR")],
        )
    ]
    assert found_again("a.md", *pages) == (None, None)


def test_values_of_sections_with_the_same_headings_that_were_exchanged_are_lost():
    page = "".join(
        f"## {name}\n\n| Price | Weight in all |\n|---|---|\n| {{}} | {weight} kg |\n\n"
        for name, weight in (("Alpha", 2), ("Beta", 3))
    )
    assert found_again("a.md", page.format("⟦10 EUR⟧", "25 EUR"), page.format("25 EUR", "10 EUR")) == (None, None)


@pytest.mark.parametrize("cut", range(6))
def test_markup_that_the_context_cuts_loses_no_label(cut):
    tag = f'<p{" " * cut} class="a note of it">'
    page = f'<p>The whole of it is told.</p>\n{tag}Fee: ⟦5 EUR⟧</p><p class="another one">x</p>\n'
    got, expected = found_again("a.html", page, f"<p>New.</p>\n{page}")
    assert got == expected is not None


NUMBERED = "# Setup\n\n1. Open the settings of your account.\n2. Choose the plan called ⟦Team⟧.\n3. Press the button.\n"
ALIGNED = (
    "| Plan         | Price         | Users       |\n| ------------ | ------------- | ----------- |\n"
    "| Team         | ⟦29 EUR⟧      | 25          |\n| Large        | 99 EUR        | 100         |\n"
)
PRICES = "country,delivery,price\nGermany,two days,⟦4.90⟧\nFrance,four days,7.90\nSpain,five days,9.90\n"


@each(
    ("name", "page"),
    [
        ("a.md", NUMBERED),
        ("a.rst", NUMBERED),
        ("a.md", "# Run\n\n```bash\nacme run --all\n```\n\n1. Open ⟦the page⟧ of it.\n2. Read all lines of it.\n"),
        ("a.md", ALIGNED),
        ("a.md", "<details>\n<summary>How long is it?</summary>\n\n⟦Ten days⟧\n\n</details>\n\nThat is all.\n"),
        (
            "a.md",
            "![One](https://example.org/pictures/one.png)\n\n⟦Ten seconds⟧\n\n![Two](https://example.org/two.png)\n",
        ),
    ],
)
@each("edit", ["Checked by us.\n\n{}", "{}\nChecked by us.\n"])
def test_a_label_between_what_was_around_it_is_found_however_little_of_that_is_shown(name, page, edit):
    got, expected = found_again(name, page, edit.format(page))
    assert got == expected is not None


@pytest.mark.parametrize("page", [COUNTRIES, PRICES])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_cell_is_found_beside_new_rows(name, page):
    page = page.replace(",", "\t") if name == "a.tsv" else page
    row = "Belgium,three days,5.90\n".replace(",", "\t" if name == "a.tsv" else ",")
    got, expected = found_again(name, page, page.replace("France", f"{row}France"))
    assert got == expected is not None


def test_a_value_is_not_that_of_another_section_as_the_row_below_was_copied_too():
    section = "## {}\n\n- Colour: {}\n- Weight: {} kg\n- Price: {} EUR\n\n"
    page = "# Products\n\n" + section.format("Alpha", "⟦red⟧", 2, 10) + section.format("Beta", "blue", 3, 25)
    changed = "# Products\n\n" + section.format("Alpha", "green", 5, 15)
    for other in (section.format("Former one", "red", 2, 10), section.format("Beta", "red", 2, 25)):
        assert found_again("a.md", page, changed + other) == (None, None)


def test_a_sentence_behind_that_of_a_label_loses_no_label():
    page = "You can check it. It needs Python of the version ⟦3.11⟧. Older ones are refused, and told so.\n"
    got, expected = found_again("a.md", page, page.replace("⟧. Older", "⟧. It is free. Older"))
    assert got == expected is not None


@pytest.mark.parametrize("signs", ["_", " .", "| ", "<", "- "])
def test_a_line_of_many_signs_is_read_in_linear_time(signs):
    def edited(size):
        page = f"Reader ⟦42 EUR⟧ is it; x{signs * size}\n"
        return partial(found_again, "a.md", page, f"Top.\n\n{page}")

    assert_linear(edited, 10_000)
