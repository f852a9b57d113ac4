"""Values that are edited within one document: a label stays under its heading, where the others say the same or not."""

import random

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.corpus.readers.html import HtmlReader
from rag_evaluation_framework.labels.relabelling import Carrier

SECTIONS = ("Weekly", "Monthly", "Yearly", "Public")
VALUES = range(10, 90, 10)
FORMS = {  # the beginning of a section, what is said there, and the file
    "table": ("## {}\n\n| Plan | Price |\n|---|---|\n| Solo | 5 € |\n", "| Corp | {} € |\n\n", "t.md"),
    "headings that are alike": ("## {}\n\n### Requests\n\n", "You can send {} per minute.\n\n", "t.md"),
    "sentence": ("## {}\n\n", "You can send {} requests per minute.\n\n", "t.md"),
    "long sentence": (
        "## {}\n\n",
        "Everybody who has a key of their own can send {} requests per minute to each of our servers in Ulm.\n\n",
        "t.md",
    ),
    "underlined": ("{}\n-------\n\n", "Everybody can send {} requests per minute.\n\n", "t.rst"),
    "section": ("[{}]\n", "timeout = {}\nretries = 3\n\n", "t.ini"),
    "key": ("{}:\n", "  timeout: {}\n", "t.yaml"),
    "object": ('"{}": {{\n', '  "timeout": {}\n}},\n', "t.txt"),
    "bold": ("**{}**\n\n", "You can send {} requests per minute.\n\n", "t.md"),
    "answer": ("Q: What is the limit of the plan {}?\n", "A: {} requests.\n\n", "t.txt"),
    "page": ("<h2>{}</h2>", "<p>You can send {} requests per minute.</p>", "t.html"),
    "table of a page": (
        "<h2>{}</h2><table>",
        "<tr><td>Solo</td><td>5 €</td></tr><tr><td>Corp</td><td>{} €</td></tr></table>",
        "t.html",
    ),
}


def corpus_of(form, values):
    """Return a corpus of sections in order, and where the value of each is."""
    begin, said, name = FORMS[form]
    parts = [f"{begin.format(section)}{said.format(value)}" for section, value in values.items()]
    text = "".join(["# Limits\n\n" if name.endswith("md") else "", *parts])
    text = HtmlReader().read(text.encode()).text if name.endswith("html") else text
    places, at = {}, 0
    for section, value in values.items():
        at = text.index(str(value), text.index(section, at))
        places[section] = at
    return Corpus([Document(DocumentId(name), text)]), places


@pytest.mark.parametrize("form", FORMS)
def test_a_label_is_found_under_its_own_heading_or_nowhere(form):
    chance, kept, found = random.Random(1), 0, 0
    for _ in range(40):
        before = dict(zip(SECTIONS, chance.sample(VALUES, len(SECTIONS)), strict=True))
        now = {section: chance.choice([value, chance.choice(VALUES)]) for section, value in before.items()}
        if chance.random() < 0.4:
            del now[chance.choice(SECTIONS)]
        if chance.random() < 0.2:
            now = dict(chance.sample([*now.items()], len(now)))
        (old, places), (new, there) = corpus_of(form, before), corpus_of(form, now)
        carrier, (document,) = Carrier(old, new), old
        for section, start in places.items():
            result = carrier.carry(CharacterSpan(document.id, start, start + 2, str(before[section])))
            is_kept = now.get(section) == before[section]
            assert result.span is None or (is_kept and result.span.start == there[section]), (before, now, section)
            kept, found = kept + is_kept, found + (result.span is not None)
    assert found >= 0.8 * kept, (found, kept)
