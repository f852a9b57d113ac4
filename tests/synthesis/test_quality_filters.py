"""The filters of a generation: what they reject, and that the thresholds that were used are told."""

import inspect
import re
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    CohereEmbedder,
    Corpus,
    Document,
    DocumentId,
    LsaEmbedder,
    OpenAIEmbedder,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    demo,
)
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.testing import HashingEmbedder
from support.scripted_llm import ScriptedModel


def generated(client, corpus, **options):
    generator = TokenLevelDataGenerator(client, corpus, check_answers=False, **options)
    with collected() as notes:
        dataset = generator.generate(2, upload_to_langsmith=False)
    return generator, dataset, [*notes]


class Asking(ScriptedModel):
    """Writes these questions about the first document, and quotes its first sentence."""

    def __init__(self, *questions):
        def write(answer, request):
            asked = questions if SENTENCES[0] in request.prompt else ()
            return {"questions": [{"question": each} for each in asked]}

        super().__init__(questions=write)

    def __call__(self, request):
        if "Number of questions" in request.prompt:
            return super().__call__(request)
        return {"quotes": [next(each for each in SENTENCES if each in request.prompt)]}


SENTENCES = (
    "Invoices are sent on the first day of the month.",
    "Install the agent as root.",
    "Export all of your data first.",
)


def test_copied_wording_is_rejected_with_its_reason(served, pages):
    _, client = served(Asking("Are invoices sent on the first day of the month?"))
    generator, _, _ = generated(client, pages, embedder=None)
    assert generator.funnel.rejected["kept"]["copied wording"] == 1
    assert "of its words in a row" in str(generator.rejections)
    assert generated(client, pages, embedder=None, copied_share=None)[0].funnel.rejected["kept"] == {}


def test_what_has_nothing_to_do_with_its_excerpt_is_irrelevant(served, pages):
    _, client = served(Asking("When do invoices go out in a month?", "Whom does one ask about boats?"))
    generator, dataset, _ = generated(client, pages, relevance_threshold=0.3)
    reasons = generator.funnel.rejected["kept"]
    assert reasons["irrelevant"] >= 1
    assert [query.text for query in dataset.queries] == ["When do invoices go out in a month?"]
    assert dataset.metadata["generation"]["filters"]["relevance"]["origin"] == "given"


def test_near_duplicates_are_rejected_with_the_question_that_they_repeat(served, pages):
    _, client = served(Asking("On which day are invoices sent out?", "Invoices are sent out on which day?!"))
    options = {"relevance_threshold": -1, "dedup_threshold": 0.95, "copied_share": None}
    generator, dataset, _ = generated(client, pages, **options)
    assert generator.funnel.rejected["kept"]["near duplicate"] == 1
    near = next(each for each in generator.rejections if each.reason == "near duplicate")
    assert "On which day are invoices sent out?" in near.detail
    assert len(dataset) == 1


def test_the_thresholds_that_were_used_are_in_the_record(served, pages):
    _, client = served()
    handbook = demo.load_handbook().corpus
    _, dataset, _ = generated(client, handbook)
    used = dataset.metadata["generation"]["filters"]
    assert used["relevance"]["origin"] == used["near_duplicates"]["origin"] == "calibrated"
    assert used["embedder"]["type"] == "lsa"
    assert used["copied_share"] == 0.6
    assert used["relevance"].keys() == used["near_duplicates"].keys() == {"figure", "origin", "share", "pairs"}
    assert generated(client, pages, embedder=None)[1].metadata["generation"]["filters"] == {
        "embedder": None,
        "copied_share": 0.6,
    }


def test_a_published_figure_that_is_given_counts_as_it_is(served, pages):
    _, client = served()
    _, dataset, notes = generated(client, pages, relevance_threshold=0.40, dedup_threshold=0.70)
    used = dataset.metadata["generation"]["filters"]
    assert (used["relevance"]["figure"], used["relevance"]["origin"]) == (0.4, "given")
    assert (used["near_duplicates"]["figure"], used["near_duplicates"]["origin"]) == (0.7, "given")
    assert not any("calibrate" in note for note in notes)


def test_the_published_figures_are_the_defaults_of_the_signature():
    parameters = inspect.signature(TokenLevelDataGenerator).parameters
    defaults = {name: parameters[name].default for name in ("relevance_threshold", "dedup_threshold")}
    assert (defaults, repr(defaults)) == (
        {"relevance_threshold": 0.40, "dedup_threshold": 0.70},
        "{'relevance_threshold': 0.4, 'dedup_threshold': 0.7}",
    )


@pytest.mark.parametrize("name", ["relevance_threshold", "dedup_threshold"])
def test_a_threshold_that_is_no_cosine_is_refused_by_its_name(served, pages, name):
    with pytest.raises(ConfigError, match=f"{name}=2; expected the cosine"):
        TokenLevelDataGenerator(served()[1], pages, **{name: 2})


def test_two_runs_use_the_same(served, pages):
    _, client = served()
    assert generated(client, pages)[1].metadata == generated(client, pages)[1].metadata


@dataclass(frozen=True)
class Missing(LsaEmbedder):
    """An embedder that needs what is not installed."""

    requires: ClassVar = {"no_such_module_is_there": "local"}


def test_without_its_package_that_is_noted_and_left_out(served, pages):
    _, client = served()
    assert "no_such_module_is_there" not in sys.modules
    _, dataset, notes = generated(client, pages, embedder=Missing())
    assert len(dataset) > 0
    assert any("relevance and near-duplicates are not checked" in note and "[local]" in note for note in notes)


def test_without_the_sdk_of_a_provider_that_is_noted_too_and_nothing_is_lost(served, pages, monkeypatch):
    _, client = served()
    monkeypatch.setitem(sys.modules, "cohere", None)
    _, dataset, notes = generated(client, pages, embedder=CohereEmbedder("embed-v4.0", api_key="k"))
    assert len(dataset) > 0
    (told,) = notes
    assert "as CohereEmbedder needs what is not installed: pip install" in told
    assert "[cohere]" in told


class Untold:
    """A client of one's own, which does not tell which server it asks."""

    def __init__(self, client):
        self.embeddings = client.embeddings


def test_vectors_of_a_server_that_is_not_known_are_not_kept(served, pages):
    providers, client = served()
    embedder = OpenAIEmbedder("a-model", client=Untold(client))
    assert not embedder.knows_address
    for _ in range(2):
        before = len(providers.exchanges)
        _, _, notes = generated(client, pages, embedder=embedder)
        assert len(providers.exchanges) > before
        (told,) = [text for text in notes if "not cached" in text]
        assert "OpenAIEmbedder" in told
        assert "Untold tells no base_url, so which server answers is not known" in told


@pytest.mark.parametrize(
    "options",
    [{"embedder": "lsa"}, {"relevance_threshold": 2}, {"dedup_threshold": "high"}, {"copied_share": -1}],
)
def test_what_cannot_be_used_is_refused(served, pages, options):
    _, client = served()
    with pytest.raises(ConfigError):
        TokenLevelDataGenerator(client, pages, **options)


class Alike(HashingEmbedder):
    """An embedder to which all texts are the same."""

    def embed(self, texts):
        return np.ones((len(texts), self.dimension), dtype=np.float32)


def test_an_embedder_that_tells_nothing_apart_is_noted_and_loses_nothing(served):
    """At chunk level, too, where all questions of a request may be about one chunk."""
    _, client = served()
    corpus = demo.load_handbook().corpus
    for kind, cut_by in ((TokenLevelDataGenerator, ()), (ChunkLevelDataGenerator, (RecursiveCharacterChunker(4000),))):
        options = {"embedder": Alike(8), "relevance_threshold": -1, "copied_share": None, "check_answers": False}
        generator = kind(client, corpus, *cut_by, **options)
        with collected() as notes:
            dataset = generator.generate(3, upload_to_langsmith=False)
        assert any("near duplicates: not checked, as Alike" in text for text in notes)
        assert "near duplicate" not in generator.funnel.rejected["kept"]
        assert dataset.metadata["generation"]["filters"]["near_duplicates"] is None


class ByTopic(HashingEmbedder):
    """An embedder that tells topics apart, and no questions about one topic: as LSA on a few short documents."""

    def embed(self, texts):
        topics = [int(re.search(r"topic(\d+)", text)[1]) if "topic" in text else 0 for text in texts]
        return np.eye(self.dimension, dtype=np.float32)[topics]


@pytest.mark.parametrize("kind", [TokenLevelDataGenerator, ChunkLevelDataGenerator])
def test_no_question_is_lost_to_another_one_of_the_same_answer(served, kind):
    """At chunk level both are about the same chunk, so nothing else tells that they differ."""
    told = "A topic{0} costs{0} so{0} much{0}.\n\nA topic{0} lasts{0} for{0} years{0}.\n"  # no run of words is shared
    corpus = Corpus(Document(DocumentId(f"{n}.md"), told.format(n)) for n in range(1, 25))
    _, client = served()
    cut_by = (RecursiveCharacterChunker(4000),) if kind is ChunkLevelDataGenerator else ()
    options = {"embedder": ByTopic(32), "relevance_threshold": -1, "copied_share": None, "check_answers": False}
    generator = kind(client, corpus, *cut_by, **options)
    with collected():
        dataset = generator.generate(2, upload_to_langsmith=False)
    assert len(dataset) == 48, generator.funnel.told


def test_where_nothing_can_be_calibrated_that_is_noted_and_left_out(served, pages):
    _, client = served(Asking("What about the month?", "And what about boats on the lake?"))
    generator, dataset, notes = generated(client, pages)
    assert "irrelevant" not in generator.funnel.rejected["kept"]
    assert dataset.metadata["generation"]["filters"]["relevance"] is None
    assert any(note.startswith("relevance: not checked, as there are too few questions") for note in notes)
