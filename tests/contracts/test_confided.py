"""What components are given in confidence is hidden in whatever words it turns up."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langsmith import Client

import rag_evaluation_framework as rag
from rag_evaluation_framework.base.outside import without_secrets
from rag_evaluation_framework.components import CachedEmbedder, CohereEmbedder, QdrantVectorStore, RerankedRetriever
from rag_evaluation_framework.components.engines import HttpEngine
from rag_evaluation_framework.components.llms import AnthropicClient
from rag_evaluation_framework.components.retrievers.engine import EngineRetriever
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from rag_evaluation_framework.contracts.component import confide, confide_parameters
from rag_evaluation_framework.contracts.registry.building import build
from rag_evaluation_framework.trackers.langsmith_client import opened
from support.engines import MemoryEngine

KEY = "zq81kfjw0293"
DSN = f"postgresql://me:{KEY}@127.0.0.1/db"


@dataclass(frozen=True)
class Told(rag.Retriever):
    api_key: Any = ""
    unshown: Any = field(default="", repr=False)
    options: Any = None

    def index(self, corpus): ...

    def retrieve(self, query, k): ...


@dataclass(frozen=True, slots=True)
class Slotted:
    password: str


class Plain:
    def __init__(self, value):
        self._api_key = value


class Raising(dict[str, Any]):
    def items(self):
        raise RuntimeError


HOLDING = {
    "a field of that name": Told(api_key=KEY),
    "headers": Told(options={"accept": "json", "Authorization": f"Bearer {KEY}"}),
    "a header of somebody's own": Told(options={"X-Chroma-Token": KEY}),
    "a login": Told(options="https://me:zq81kfjw%30293@host/x"),
    "a field beside a mapping of somebody, which is not read": Told(options=Raising(), api_key=KEY),
    "an attribute": Plain(KEY),
    "a field with slots": Slotted(KEY),
    "one header of many": Told(options={**{str(number): "value" for number in range(100)}, "api-key": KEY}),
}


@pytest.mark.parametrize("component", HOLDING.values(), ids=HOLDING)
def test_it_is_hidden_in_the_words_of_others(component):
    assert KEY in without_secrets(f"wrong: {KEY}?")
    confide(component)
    assert without_secrets(f"wrong: {KEY}?") == "wrong: ***?"


def enter_langsmith(client):
    with opened(client, "this test"):
        pass


def words(texts):
    return [[1.0]] * len(texts)


# Each as it comes into a run, or into use.
OURS = {
    "OpenAIEmbedder": lambda: CachedEmbedder(rag.OpenAIEmbedder(api_key=KEY)),
    "CohereEmbedder": lambda: rag.VectorRAGRetriever(embedder=CohereEmbedder(api_key=KEY)),
    "CohereReranker": lambda: RerankedRetriever(rag.BM25Retriever(), rag.CohereReranker(api_key=KEY)),
    "AnthropicClient": lambda: AnthropicClient(api_key=KEY)._sdk,
    "QdrantVectorStore": lambda: rag.VectorRAGRetriever(
        vector_store=QdrantVectorStore(url="http://127.0.0.1:9", api_key=KEY)
    ),
    "the login of QdrantVectorStore": lambda: rag.VectorRAGRetriever(
        vector_store=QdrantVectorStore(url=f"http://me:{KEY}@127.0.0.1:9")
    ),
    "ChromaVectorStore": lambda: rag.VectorRAGRetriever(
        vector_store=rag.ChromaVectorStore(host="127.0.0.1", headers={"x-chroma-token": KEY})
    ),
    "PgVectorStore": lambda: PgVectorStore(DSN),
    "HttpEngine": lambda: HttpEngine("http://127.0.0.1:9", token_env="OF_THIS_TEST"),
    "an engine of one's own": lambda: EngineRetriever(Engine(KEY)),
    "LangSmith": lambda: enter_langsmith(None),
    "a client of LangSmith": lambda: enter_langsmith(Client(api_key=KEY, auto_batch_tracing=False)),
    "a configuration": lambda: build("vector_store", f"qdrant:url=http://127.0.0.1:9,api_key={KEY}"),
    "a mapping in a configuration": lambda: build(
        "vector_store", {"type": "chroma", "host": "127.0.0.1", "headers": {"Authorization": f"Bearer {KEY}"}}
    ),
}


class Engine(MemoryEngine):
    def __init__(self, token):
        super().__init__()
        self.token = token


@pytest.mark.parametrize("enter", OURS.values(), ids=OURS)
def test_the_key_of_each_of_our_components_is_hidden(enter, monkeypatch):
    monkeypatch.setenv("OF_THIS_TEST", KEY)
    monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    assert KEY in without_secrets(f"wrong: {KEY}?")
    enter()
    assert without_secrets(f"wrong: {KEY}?") == "wrong: ***?"


@pytest.mark.parametrize(
    "component",
    [Told(options={"inner": {"api_key": KEY}}), Told(options=[("password", KEY)]), Told(options=Plain(KEY))],
)
def test_nothing_is_searched_that_a_field_does_not_hold_itself(component):
    confide(component)
    assert without_secrets(KEY) == KEY


def test_parameters_of_what_could_not_be_made_are_hidden_too():
    confide_parameters({"api_key": KEY, "options": "shown"})
    assert without_secrets(f"{KEY} shown") == "*** shown"
