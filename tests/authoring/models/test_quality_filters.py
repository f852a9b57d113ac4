"""The filters of a generation: what they reject, and with which thresholds."""

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


def test_what_has_nothing_to_do_with_its_excerpt_is_irrelevant(served, pages):
    _, client = served(Asking("When do invoices go out in a month?", "Whom does one ask about boats?"))
    given = {"embedder": LsaEmbedder(), "relevance_threshold": 0.3}
    generator, dataset, _ = generated(client, pages, **given)
    assert generator.funnel.rejected["kept"] == {"irrelevant": 1}
    assert [query.text for query in dataset.queries] == ["When do invoices go out in a month?"]
    assert dataset.metadata["generation"]["filters"] == {
        "embedder": describe(LsaEmbedder()),
        "relevance_threshold": 0.3,
        "dedup_threshold": 0.7,
    }


def test_near_duplicates_are_rejected_with_the_question_that_they_repeat(served, pages):
    _, client = served(Asking("On which day are invoices sent out?", "Invoices are sent out on which day?!"))
    given = {"embedder": LsaEmbedder(), "relevance_threshold": 0, "dedup_threshold": 0.95}
    generator, dataset, _ = generated(client, pages, **given)
    assert generator.funnel.rejected["kept"] == {"near duplicate": 1}
    near = next(each for each in generator.rejections if each.reason == "near duplicate")
    assert "On which day are invoices sent out?" in near.detail
    assert len(dataset) == 1


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
