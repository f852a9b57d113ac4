"""Why labels are lost, in words."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data import Anchor
from rag_evaluation_framework.labelling.losses import LossTeller
from rag_evaluation_framework.labelling.withdrawn import Withdrawn

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
