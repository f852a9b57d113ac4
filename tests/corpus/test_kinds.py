"""What people copy from a viewer stands in the text of every kind of document; viewers.py wrote what viewers show."""

import json
from functools import cache
from pathlib import Path

import pytest

from rag_evaluation_framework import Corpus
from rag_evaluation_framework.corpus.readers import read_file
from rag_evaluation_framework.labels.quote_locator import QuoteLocator

KINDS = Path(__file__).parent / "kinds"
SHOWN = json.loads((KINDS / "shown.json").read_text(encoding="utf-8"))
LEAST = 95  # of 100 sentences
every_kind = pytest.mark.parametrize("name", SHOWN)


@cache
def corpus():
    return Corpus.of(KINDS, exclude="*.json")


@every_kind
def test_sentences_that_a_viewer_shows_are_in_the_text_which_is_the_same_at_a_second_reading(name):
    assert len(SHOWN[name]) == 100
    text = " ".join(corpus()[name].content.split())
    locator = QuoteLocator(Corpus([corpus()[name]]))
    lost = [each for each in SHOWN[name] if each not in text]
    print(name, "verbatim", 100 - len(lost))
    if name.endswith((".md", ".rst", ".ipynb")):  # their text is their source, with markup in it
        lost = [each for each in lost if len(locator.locate(each).places) != 1]
    print(name, "located", 100 - len(lost), lost[:3])
    assert len(SHOWN[name]) - len(lost) >= LEAST, lost
    assert read_file(KINDS / name)[0].encode() == corpus()[name].content.encode()
