"""Questions with chunks: one call asks and cites, and code checks what is cited."""

import openai
import pytest

from rag_evaluation_framework import (
    CHUNK,
    ChunkLevelDataGenerator,
    ChunkLevelEvaluation,
    RecursiveCharacterChunker,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.contracts.registry.building import describe
from rag_evaluation_framework.testing import LoopbackProviders
from support.scripted_llm import SENTENCE, ScriptedModel, question_of

CHUNKER = RecursiveCharacterChunker(chunk_size=60)


def generated(client, corpus, queries_per_doc=2, chunker=CHUNKER, **options):
    with collect_notes() as notes:
        generator = ChunkLevelDataGenerator(client, corpus, chunker, **{"embedder": None, **options})
        dataset = generator.generate(queries_per_doc, upload_to_langsmith=False)
    return generator, dataset, [*notes]


def citing(ids):
    """A model that cites other chunks; `ids` takes those that it would cite."""

    def changed(answer, request):
        return {"questions": [{**each, "chunk_ids": ids(each["chunk_ids"])} for each in answer["questions"]]}

    return ScriptedModel(questions=changed)


def test_every_chunk_is_shown_behind_its_id_and_questions_have_those_that_the_model_cited(served, pages):
    providers, client = served()
    generator, dataset, notes = generated(client, pages)
    assert dataset.level is CHUNK
    assert len(dataset) == generator.funnel.kept == 6
    by_id = {chunk.id.removeprefix("pa_"): chunk for chunk in chunk_corpus(pages, CHUNKER)}
    for entry in dataset:
        (chunk_id,) = entry.relevant
        assert entry.query.text in {question_of(one) for one in SENTENCE.findall(by_id[chunk_id].content)}
    assert dataset.chunking == generator.chunk_registry.fingerprint
    assert notes == []
    assert len(providers.exchanges) == 3 + 6
    shown = "\n".join(str(exchange.request.json["messages"][1]["content"]) for exchange in providers.exchanges[:3])
    assert all(f"[{name}]: '{chunk.content}'" in shown for name, chunk in by_id.items())
    assert dataset.metadata["generation"]["chunker"] == describe(CHUNKER)
    evaluation = ChunkLevelEvaluation(pages, langsmith_dataset_name="rag-eval-chunk-level-v1")  # as it was saved
    assert evaluation.run(chunker=CHUNKER, k=5).metrics["chunk_recall@5"] > 0.5


@pytest.mark.parametrize("form", ["pa_{}", "{}", "[{}", " {}", "lines"])
def test_ids_are_taken_in_both_forms_with_what_models_put_around_them_and_from_lines(served, pages, form):
    def lines(answer, request):
        return "\n\n".join(
            f"Q: {each['question']}\nChunks: {', '.join(each['chunk_ids'])}" for each in answer["questions"]
        )

    model = ScriptedModel(questions=lines) if form == "lines" else citing(lambda ids: [*map(form.format, ids)])
    _, client = served(model)
    assert len(generated(client, pages)[1]) == 6


def test_the_questions_of_a_server_without_a_script_are_about_chunks_and_are_kept(pages):
    with LoopbackProviders(), openai.OpenAI() as client:
        generator, dataset, _ = generated(client, pages, 1, embedder=LsaEmbedder())
    assert generator.funnel.asked == len(dataset) == 3
    for entry in dataset:
        (chunk,) = generator.chunk_registry.occurrences(entry.relevant[0])
        assert entry.query.text.split()[-1].strip("?") in chunk.content.lower()


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ([], "no chunk cited"),
        (["chunk_000000000000"], "unknown chunk id"),
        (["all of them"], "unknown chunk id"),
    ],
)
def test_a_question_without_a_known_chunk_is_rejected(served, pages, ids, reason):
    _, client = served(citing(lambda _: ids))
    generator, dataset, _ = generated(client, pages)
    assert (len(dataset), generator.funnel.verified) == (0, 0)
    assert generator.funnel.rejected["verified"] == {reason: 6}


def test_chunks_without_a_place_are_cited_too(served, pages):
    _, client = served()
    _, dataset, _ = generated(client, pages, chunker=lambda text: [text.lower(), text.upper()])
    assert len(dataset) == 6
    assert all(len(entry.relevant) == 1 for entry in dataset)
