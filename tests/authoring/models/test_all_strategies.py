"""All strategies together, at both levels: the funnel adds up, and the dataset is one like any other."""

import json

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    ChunkLevelEvaluation,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    TokenLevelEvaluation,
    demo,
    load_dataset,
)
from rag_evaluation_framework.authoring.models import (
    CrossDocumentQuestions,
    DimensionQuestions,
    NoAnswerQuestions,
    RealQuestions,
    SimpleQuestions,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.datasets.checks import dataset_quality
from rag_evaluation_framework.trackers import pull_dataset, push_dataset
from support.scripted_llm import CHUNK, SENTENCE, ScriptedModel, question_of, sentences

CHUNKER = RecursiveCharacterChunker(chunk_size=300)
STRATEGIES = [
    SimpleQuestions(),
    DimensionQuestions({"difficulty": ["easy", "hard"]}),
    CrossDocumentQuestions(),
    NoAnswerQuestions(),
    RealQuestions(("where are chunks cut", "what is recall")),
]


class Able(ScriptedModel):
    """Quotes both ends where several parts are asked for, and finds no answer to what it asks without one."""

    def __call__(self, request):
        text, system = request.messages[-1][1], request.messages[0][1]
        if "should return nothing" in system:
            first = next(iter(sentences(text)), "Nothing is told here.")
            return {"questions": [{"question": f"Missing: {question_of(first)}"}]}
        if "Question: Missing" in text:
            return {"missing": "all of it", "answer": "no"}
        return super().__call__(request)

    def _asked(self, text, count):
        chunks = CHUNK.findall(text)
        several = "at least two places" in text or "two documents" in text
        if not chunks:
            return super()._asked(text, count)
        cited = [chunks[0][0], chunks[-1][0]] if several else [chunks[0][0]]
        found = [one for _, content in chunks for one in SENTENCE.findall(content)]
        return {"questions": [{"question": question_of(one), "chunk_ids": cited} for one in found[:count]]}


def both_ends(sentence, request):
    shown = sentences(request.messages[-1][1])
    return {"quotes": [sentence, shown[-1]]}


@pytest.mark.parametrize("kind", [TokenLevelDataGenerator, ChunkLevelDataGenerator])
def test_all_strategies_together_make_one_dataset(served, kind, tmp_path):
    providers, client = served(Able(both_ends), langsmith=True)
    corpus = demo.load_handbook().corpus
    chunking = {"chunker": CHUNKER} if kind is ChunkLevelDataGenerator else {}

    def generated(at_once):
        generator = kind(
            client,
            corpus,
            strategies=STRATEGIES,
            max_concurrency=at_once,
            root=tmp_path / str(at_once),
            **chunking,
        )
        with collect_notes():
            return generator, generator.generate(1, upload_to_langsmith=False)

    (generator, dataset), (_, other) = generated(1), generated(6)
    assert dataset.content_hash == other.content_hash
    funnel, lost = generator.funnel, [each for each in generator.rejections if each.questions]
    assert funnel.asked == funnel.kept + sum(each.questions for each in lost)
    assert funnel.kept == len(dataset)
    kept = {query.metadata["strategy"] for query in dataset.queries}
    assert kept >= {"SimpleQuestions", "NoAnswerQuestions"}
    without = [entry for entry in dataset if not entry.labels]
    assert 0 < len(without) < len(dataset)
    assert {entry.query.metadata["strategy"] for entry in without} == {"NoAnswerQuestions"}
    for entry in dataset:
        for label in entry.labels if kind is TokenLevelDataGenerator else ():
            assert corpus[label.doc_id].content[label.start : label.end] == label.text != ""

    loaded = load_dataset(generator.path, dataset.level, corpus=corpus)
    assert loaded.content_hash == dataset.content_hash
    assert json.loads(generator.path.read_text())
    push_dataset(dataset, "all")
    assert len(push_dataset(dataset, "all").unchanged) == len(dataset)
    assert pull_dataset("all", dataset.level, corpus=corpus).content_hash == dataset.content_hash
    assert dataset_quality(dataset, corpus).questions == len(dataset)
    with collect_notes():
        if kind is TokenLevelDataGenerator:
            result = TokenLevelEvaluation(corpus=corpus, dataset=dataset).run(chunker=CHUNKER)
        else:
            result = ChunkLevelEvaluation(corpus=corpus, dataset=dataset).run(chunker=CHUNKER)
    assert result.counts["no_answer"] == len(without)
    assert providers.exchanges
