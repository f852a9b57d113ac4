"""What components hold in confidence is hidden in whatever words it turns up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from pydantic import SecretStr

import rag_evaluation_framework as rag
from rag_evaluation_framework._outside import without_secrets
from rag_evaluation_framework.contracts.confided import confide, confide_parameters

KEY = "zq81kfjw0293"


@dataclass(frozen=True)
class Told(rag.Retriever):
    api_key: Any = ""
    unshown: Any = field(default="", repr=False)
    options: Any = None

    def index(self, corpus): ...

    def retrieve(self, query, k): ...


class Plain:
    def __init__(self, value):
        self._api_key = value


def call(text, api_key):
    return [text, api_key]


HOLDING = {
    "a field of that name": Told(api_key=KEY),
    "bytes": Told(api_key=KEY.encode()),
    "pydantic's secret": Told(api_key=SecretStr(KEY)),
    "a field that is not shown": Told(unshown=KEY),
    "headers": Told(options={"headers": {"Authorization": f"Bearer {KEY}"}}),
    "pairs": Told(options=[("password", KEY)]),
    "a list of mappings": Told(options=[{"token": KEY}]),
    "a component in a component": rag.RerankedRetriever(Told(api_key=KEY), lambda query, texts: [1.0] * len(texts)),
    "an attribute": Plain(KEY),
    "many in one": Told(api_key=[*map(str, range(100)), KEY]),
    "one header of many": Told(options={**{str(number): "value" for number in range(100)}, "api-key": KEY}),
    "deep inside": Told(options=[[[[[[[{"token": KEY}]]]]]]]),
    "a function with the key": Told(options=partial(call, api_key=KEY)),
}


@pytest.mark.parametrize("component", HOLDING.values(), ids=HOLDING)
def test_it_is_hidden_in_the_words_of_others(component):
    assert KEY in without_secrets(f"wrong: {KEY}?")
    confide(component)
    assert without_secrets(f"wrong: {KEY}?") == "wrong: ***?"


@pytest.mark.parametrize(
    "component", [Told(unshown="a long text of words"), Told(unshown="/data/2024"), Told(unshown=5)]
)
def test_a_field_that_is_not_shown_is_hidden_only_if_it_looks_like_a_key(component):
    confide(component)
    assert without_secrets("a long text of words in /data/2024") == "a long text of words in /data/2024"


def test_what_raises_when_it_is_asked_for_hides_nothing_and_does_not_matter():
    class Odd:
        @property
        def __dict__(self):
            raise RuntimeError

    holds_itself: list[Any] = []
    holds_itself.append(holds_itself)
    confide(Odd())
    confide(Told(options=holds_itself))


def test_parameters_of_what_could_not_be_made_are_hidden_too():
    confide_parameters(Told, {"api_key": f"{KEY}1", "unshown": f"{KEY}2", "options": "shown"})
    assert without_secrets(f"{KEY}1 {KEY}2 shown") == "*** *** shown"


def test_of_what_has_no_end_only_so_much_is_looked_at():
    class Endless(Mapping[str, Any]):
        read = 0

        def __getitem__(self, key):
            return self

        def __iter__(self):
            raise NotImplementedError

        def __len__(self):
            return 1

        def items(self):
            while True:
                Endless.read += 1
                yield "name", [Endless()]

    confide(Told(options=Endless(), api_key=KEY))
    assert 0 < Endless.read < 100_000
    assert without_secrets(KEY) == "***"
