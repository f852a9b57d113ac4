"""Secrets of anybody's components: in a whole run they are in no file, output, error, name or `repr`."""

import functools
import gzip
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import CachedEmbedder, InMemoryVectorStore, RerankedRetriever
from rag_evaluation_framework.components.embedders.cached import embedder_identity
from rag_evaluation_framework.contracts.registry.building import build, describe
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs import load_config
from rag_evaluation_framework.runs.store import run_folders

SECRET = "s3cr3t-0f-mine"
OTHER = "an0ther-secret"


class Client:
    """A client of somebody else's."""

    def __init__(self, api_key):
        self.api_key = api_key

    def __repr__(self):
        return f"Client(api_key={self.api_key!r})"


def call(text, api_key):
    return [text, api_key]


@dataclass(frozen=True, repr=False)
class Secretive:
    """Parameters of which some hold a secret, by name or by form."""

    secret: str
    api_key: str = ""
    url: str = ""
    dsn: str = ""
    options: Any = None
    auth: Any = None
    headers: Any = ()
    size: int = 4

    @classmethod
    def of(cls, secret):
        return cls(**parameters(secret))

    def leak(self):
        said = f"Incorrect API key provided: {self.api_key}, the key is {self.api_key} or -u me:{self.secret}"
        raise ConnectionError(f"no answer from {self.url} with {self.options}; {self.dsn}; {said}")


def parameters(secret):
    return {
        "secret": secret,
        "api_key": secret,
        "url": f"http://me:{secret}@host/x",
        "dsn": f"postgresql://me:{secret}@host/db",
        "options": {
            "headers": {"Authorization": f"Bearer {secret}", "accept": "json"},
            "password": secret,
            "nested": [{"token": secret}, (f"user=me password={secret} host=h",)],
            "address": f"https://h/?token={secret}&page=2",
        },
        "auth": ("me", secret),
        "headers": {"X-Api-Key": secret, "Cookie": f"id={secret}; a={secret}", "accept": "json"},
    }


@dataclass(frozen=True)
class SecretChunker(Secretive, rag.Chunker):
    def chunk(self, text):
        rag.note(f"cut by {self.url} with {self.options}")
        return text.split("\n")


@dataclass(frozen=True)
class SecretEmbedder(Secretive, rag.Embedder):
    @property
    def dimension(self):
        return 2

    def embed(self, texts):
        rag.note(f"embedded by {self!r}")
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)


@dataclass(eq=False)
class SecretStore(InMemoryVectorStore):
    api_key: str = ""
    url: str = ""
    options: Any = None
    size: int = 4

    @classmethod
    def of(cls, secret):
        given = parameters(secret)
        return cls(given["api_key"], given["url"], given["options"])


@dataclass(frozen=True)
class SecretReranker(Secretive, rag.Reranker):
    def rerank(self, query, chunks):
        if "fails" in query:
            self.leak()
        return list(chunks)


@dataclass(frozen=True)
class SecretMetric(Secretive, rag.TokenLevelMetric):
    name = "secretive"

    def calculate(self, retrieved, ground_truth):
        if any(span.start for span in ground_truth):
            self.leak()
        return 1.0


class SecretTokenizer:
    name = f"tokenizer at http://me:{SECRET}@host"

    def tokenize(self, text):
        return text.split()

    def __call__(self, text):
        return text.split()


@dataclass(frozen=True)
class SecretRetriever(Secretive, rag.Retriever):
    client: Any = None
    function: Any = None

    @property
    def name(self):
        return f"mine {self.url} {self.client!r} {self.function!r}"

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        if "fails" in query:
            self.leak()
        return [{"doc_id": "a", "start": 0, "end": 5}]


def vector_rag(secret):
    return RerankedRetriever(
        rag.VectorRAGRetriever(
            chunker=SecretChunker.of(secret),
            embedder=CachedEmbedder(SecretEmbedder.of(secret)),
            vector_store=SecretStore.of(secret),
        ),
        SecretReranker.of(secret),
    )


def named(secret):
    function = functools.partial(call, api_key=secret)
    return SecretRetriever(**parameters(secret), client=Client(secret), function=function)


def dataset():
    corpus = rag.Corpus(
        [rag.Document("a", "first line\nsecond line")], {"source": f"postgresql://me:{SECRET}@host/documents"}
    )
    entries = [
        rag.TokenLevelGroundTruth(rag.Query(text, text), [rag.CharacterSpan("a", start, start + 5)])
        for text, start in (("one", 0), ("two", 11), ("fails", 0))
    ]
    return rag.Dataset(entries, rag.TOKEN, name="numbers", corpus=corpus)


def run(retriever, secret, root):
    return rag.TokenLevelEvaluation(dataset().corpus, dataset()).run(
        retriever=retriever,
        metrics=[SecretMetric.of(secret), rag.SpanRecall()],
        config=rag.EvaluationConfig(save_results_path=root, tokenizer=SecretTokenizer(), budgets=["5tok"]),
    )


def contents(folder):
    """The bytes of every file below a folder, unpacked."""
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield path.name, gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.mark.parametrize("pipeline", [vector_rag, named], ids=lambda pipeline: pipeline.__name__)
def test_no_secret_of_a_component_is_in_what_a_run_leaves_or_shows(pipeline, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    result = run(pipeline(SECRET), SECRET, tmp_path / "runs")
    assert result.counts["failed"] == 1
    assert result.counts["metric_failed"] == 1
    print(result, *result.queries, result.config, result.failures, result.notes, sep="\n")
    print(result._repr_html_(), result.compare(result), rag.load_result(result.folder), sep="\n")
    out, err = capfd.readouterr()
    assert SECRET not in out + err
    files = dict(contents(tmp_path))
    assert {"report.json", "summary.md"} <= files.keys()
    assert [name for name, data in files.items() if SECRET.encode() in data] == []
    assert "***" in str(result.config)
    assert "***" in out
    other = run(pipeline(OTHER), OTHER, tmp_path / "runs")
    assert (result.name, result.config, result.notes) == (other.name, other.config, other.notes)
    assert result.failures == other.failures


def test_a_new_secret_finds_the_vectors_of_the_old_one_and_another_parameter_does_not():
    def identity(secret, **changed):
        embedder = replace(SecretEmbedder.of(SECRET), secret=secret, api_key=secret, headers=(), **changed)
        return embedder_identity(embedder)

    assert identity(SECRET) == identity(OTHER)
    assert identity(SECRET, url="http://me:a@host") != identity(SECRET, url="http://me:b@host")
    assert identity(SECRET, options={"password": "a"}) == identity(SECRET, options={"password": "b"})
    assert identity(SECRET, options={"prompt": "a"}) != identity(SECRET, options={"prompt": "b"})
    assert "host" in identity(SECRET)
    assert SECRET not in identity(SECRET)

    @dataclass(frozen=True)
    class Keyed(SecretEmbedder):
        key: str = field(default="", repr=False)  # kept out of the repr, it is a secret
        column: str = field(default="", repr=False)

    @dataclass(frozen=True)
    class Reading(SecretEmbedder):
        key: str = ""

    assert embedder_identity(Keyed("", key="a")) == embedder_identity(Keyed("", key="b"))
    assert embedder_identity(Keyed("", column="a")) != embedder_identity(Keyed("", column="b"))
    assert embedder_identity(Reading("", key="a")) != embedder_identity(Reading("", key="b"))


@pytest.mark.parametrize("kind", [SecretChunker, SecretEmbedder, SecretStore, SecretReranker, SecretMetric])
def test_names_and_reprs_of_components_tell_no_secret(kind):
    component = kind.of(SECRET)
    for text in (repr(component), component.name, str(describe(component)), repr([component])):
        assert SECRET not in text
    assert "size=4" in repr(component)


def test_a_parameter_that_is_called_nearly_like_a_secret_is_one_of_the_record():
    @dataclass(frozen=True)
    class Masking(rag.Retriever):
        mask_token: str = "[PAD]"
        max_tokens: int = 1
        key: str = "id"
        tokenizer: str = "x"

        def index(self, corpus): ...

        def retrieve(self, query, k): ...

    parts = Masking("[MASK]", 100, "name", "cl100k_base")
    given = {"mask_token": "[MASK]", "max_tokens": 100, "key": "name", "tokenizer": "cl100k_base"}
    assert describe(parts).items() >= given.items()
    assert parts.name.endswith("Masking(mask_token='[MASK]', max_tokens=100, key='name', tokenizer='cl100k_base')")


def test_configurations_tell_no_secret(tmp_path):
    (tmp_path / "c.yaml").write_text(
        f"corpus: docs\ndataset: d.json\nretriever: own:R:api_key={SECRET},k=2\n"
        f"embedder: {{type: x, password: {SECRET}}}\n"
    )
    config = load_config(tmp_path / "c.yaml")
    assert SECRET not in f"{config!r} {config}"
    assert config.embedder["password"] == SECRET
    experiment = rag.ExperimentConfig(vector_rag(SECRET), dataset())
    assert SECRET not in f"{experiment!r}"


def test_what_a_constructor_refuses_is_told_without_secrets(tmp_path, monkeypatch):
    (tmp_path / "refusing.py").write_text(
        "from dataclasses import dataclass\n"
        "from rag_evaluation_framework import Retriever\n"
        "@dataclass(frozen=True)\n"
        "class R(Retriever):\n"
        "    api_key: str = ''\n"
        "    url: str = ''\n"
        "    def __post_init__(self): raise ValueError(f'cannot log in at {self.url}, api_key={self.api_key}')\n"
        "    def index(self, corpus): ...\n"
        "    def retrieve(self, query, k): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError) as caught:
        build("retriever", f"refusing:R:api_key={SECRET},url=http://me:{SECRET}@host")
    assert SECRET not in str(caught.value)
    assert "refuses {'api_key': '***', 'url': 'http://***@host'}: cannot log in" in str(caught.value)


def test_names_and_records_hold_no_addresses_of_objects():
    class Plain:
        pass

    @dataclass(frozen=True)
    class Holding(rag.Retriever):
        function: Any = None
        thing: Any = None
        things: Any = ()

        def index(self, corpus):
            raise ValueError(f"{self.thing} {self.function}")

        def retrieve(self, query, k):
            rag.note(f"asked {self.thing}")
            raise ValueError(f"{self.thing} {self.function}")

    retriever = Holding(call, Plain(), (Plain(), call))
    told = f"{retriever!r} {retriever.name} {describe(retriever)} {ConfigError(f'got {retriever.thing}')}"
    assert "0x" not in told
    assert retriever.name.startswith("Holding")
    assert "function=call" in retriever.name


def test_the_login_of_a_url_that_a_dataset_is_called_after_is_in_no_record_and_no_name_of_a_folder(tmp_path):
    named = rag.Dataset(dataset().ground_truth, rag.TOKEN, name=f"https://me:{SECRET}@host/x", corpus=dataset().corpus)
    result = rag.evaluate(lambda query, k: ["first"], named, k=1)
    folder = result.save(root=tmp_path)
    assert folder.name.endswith("Z-https-host-x")
    assert result.config["dataset"]["name"] == "https://***@host/x"
    assert rag.load_result(folder).config == result.config
    assert [name for name, data in contents(folder) if SECRET.encode() in data] == []
    assert next(run_folders(tmp_path, result.created, named.name)).name == folder.name
