"""The filters of a generation: what they reject, and with which thresholds."""

import pytest

from rag_evaluation_framework import OpenAIEmbedder, TokenLevelDataGenerator
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.contracts.registry.building import describe
from support.scripted_llm import ScriptedModel


def generated(client, corpus, **options):
    generator = TokenLevelDataGenerator(client, corpus, check_answers=False, **options)
    with collect_notes() as notes:
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
MONTHLY = ("When do invoices go out in a month?", "Whom does one ask about boats?")
DAYS = ("On which day are invoices sent out?", "Invoices are sent out on which day?!")


@pytest.mark.parametrize(
    ("asked", "relevance", "dedup", "reason", "detail"),
    [
        (MONTHLY, 0.3, 0.7, "irrelevant", "its excerpt"),
        (DAYS, 0.0, 0.95, "near duplicate", DAYS[0]),
    ],
    ids=["irrelevant", "near duplicate"],
)
def test_what_has_nothing_to_do_with_its_excerpt_and_near_duplicates_are_rejected(
    served, pages, asked, relevance, dedup, reason, detail
):
    _, client = served(Asking(*asked))
    given = {"relevance_threshold": relevance, "dedup_threshold": dedup}
    generator, dataset, _ = generated(client, pages, embedder=LsaEmbedder(), **given)
    assert generator.funnel.rejected["kept"] == {reason: 1}
    assert [query.text for query in dataset.queries] == [asked[0]]
    assert [detail in each.detail for each in generator.rejections if each.reason == reason] == [True]
    assert dataset.metadata["generation"]["filters"] == {"embedder": describe(LsaEmbedder()), **given}


def test_two_runs_embed_nothing_twice_with_a_providers_embedder(served, pages):
    providers, client = served()
    given = {"embedder": OpenAIEmbedder("a-model", client=client), "relevance_threshold": 0, "dedup_threshold": 1}
    first = generated(client, pages, **given)[1]
    before = len(providers.exchanges)
    assert before > 9
    assert generated(client, pages, **given)[1].metadata == first.metadata
    assert len(providers.exchanges) == before


class Untold:
    """A client of one's own, which does not tell which server it asks."""

    def __init__(self, client):
        self.embeddings = client.embeddings


def test_vectors_of_a_server_that_is_not_known_are_not_kept_and_the_published_figures_are_the_defaults(served, pages):
    providers, client = served()
    embedder = OpenAIEmbedder("a-model", client=Untold(client))
    assert not embedder.knows_address
    for _ in range(2):
        before = len(providers.exchanges)
        _, dataset, notes = generated(client, pages, embedder=embedder)
        assert len(providers.exchanges) > before
        told = next(text for text in notes if "not cached" in text)
        assert "OpenAIEmbedder" in told
        assert "Untold tells no base_url, so which server answers is not known" in told
    filters = dataset.metadata["generation"]["filters"]
    assert (filters["relevance_threshold"], filters["dedup_threshold"]) == (0.4, 0.7)
