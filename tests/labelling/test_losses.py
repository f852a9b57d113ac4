"""Why labels are lost, in words."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data import Anchor
from rag_evaluation_framework.labelling.losses import LossTeller, Withdrawn

TEXT = "Refunds take five days."
BEFORE, AFTER = "# Refunds in Europe\n\n", " On Sundays, too.\n"
SAME = f"{BEFORE}{TEXT}{AFTER}"
WRAPPED = SAME.replace("On Sundays", "On\nSundays")


def told(**texts):
    corpus = Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())
    anchor = Anchor("gone.md", len(BEFORE), TEXT, BEFORE, AFTER)
    return LossTeller(corpus, Withdrawn(corpus)).told(anchor)[0]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"a": f"{TEXT} Or six."}, "its text stands with another context (a.md[0:23])"),
        ({"a": f"# Asia\n\n{TEXT}{AFTER}"}, "its text stands with another context (a.md[8:31])"),
        ({"a": f"{BEFORE}{TEXT}"}, "its text stands with another context (a.md[21:44])"),
        ({"a": SAME}, "its text stands with the same context, but may be another one (a.md[21:44])"),
        ({"a": WRAPPED}, "its text stands with the same context, but may be another one (a.md[21:44])"),
        (
            {"a": SAME, "b": TEXT},
            "its text now stands in several places, some with the same context (a.md[21:44], b.md[0:23])",
        ),
        (
            {"a": SAME, "b": SAME},
            "its text now stands in several places with the same context (a.md[21:44], b.md[21:44])",
        ),
        (
            {"a": f"{TEXT} Or six.", "b": TEXT},
            "its text now stands in several places with another context (a.md[0:23], b.md[0:23])",
        ),
    ],
)
def test_context_is_another_one_only_if_it_is(texts, expected):
    assert told(**texts) == f"lost: its document gone.md is gone, and {expected}"


ROWS = "Copies are kept like this:\n\n| kind | kept |\n|------|------|\n| daily | {} |\n| monthly | 12 months |\n"
FREQUENT = "Daily reports of all days. " * 20


def in_place_of_a_row(*, before="| kind | kept |\n|------|------|\n| ", after=" |\n| monthly | 12 months |\n", **texts):
    corpus = Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in {"z": FREQUENT, **texts}.items())
    anchor = Anchor("a.md", 70, "daily | 30 days", before, after)
    return LossTeller(corpus, Withdrawn(corpus)).told(anchor)[1]


def test_nearest_to_a_label_is_a_text_of_its_own_document():
    text = "The service accepts 600 requests a minute for each key."
    own = f"# Limits\n\n{text.replace('accepts', 'allows')}\n\nAll else is answered by an error.\n"
    other = f"# Earlier limits\n\n{text.replace('600', '60')}\n\nNothing else was told.\n"
    corpus = Corpus([Document(DocumentId("a.md"), other), Document(DocumentId("b.md"), own)])
    for doc_id, document in (("b.md", "b.md"), ("gone.md", "a.md")):
        _, nearest, _ = LossTeller(corpus, Withdrawn(corpus)).told(
            Anchor(doc_id, 10, text, "# Title of it\n\n", "\n\nMore.")
        )
        assert nearest.document == document
