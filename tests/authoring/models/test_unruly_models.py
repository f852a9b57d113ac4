"""Models that misquote, paraphrase, repeat, invent ids, wrap JSON in prose and break it: what is kept is right."""

import json
from collections import Counter
from hashlib import sha256

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    demo,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import LanguageModel
from support.scripted_llm import CHUNK, ScriptedModel, sentences

CHUNKER = RecursiveCharacterChunker(chunk_size=300)


class UnrulyModel(ScriptedModel):
    """A model whose answers are unruly, each in a way that depends on what it is asked, and on how often."""

    def __init__(self):
        super().__init__(self.quoted, self.asked, self.judged)
        self.times = Counter()

    def __call__(self, request):
        self.times[request.prompt] += 1
        return super().__call__(request)

    def way(self, text, ways):
        return int(sha256(text.encode()).hexdigest(), 16) % ways

    def once_more(self, request, answer):
        """Break the answer the first time."""
        return json.dumps(answer)[:-4] + "," if self.times[request.prompt] == 1 else answer

    def asked(self, answer, request):
        listed = answer["questions"]
        lines = "\n".join(f"Q: {each['question']}\nChunks: {', '.join(each.get('chunk_ids', []))}" for each in listed)
        for each in listed:
            if "chunk_ids" in each:
                self.cite(each, request)
        ways = (
            answer,
            listed,
            f"Sure:\n\n{lines}",
            f"Here are [some] {{questions}}:\n```json\n{json.dumps(answer)}\n```\nEnjoy!",
            self.once_more(request, answer),
            '{"questions": [{"question": "Wh',
            {"questions": listed[:-1]},
            {"questions": [*listed, {"question": "What else is there to be said?", "chunk_ids": ["chunk_1"]}]},
            {"questions": [{"question": " "}, *listed]},
            {"questions": [listed[0], *listed[:-1]] if listed else []},
        )
        return ways[self.way(request.prompt, len(ways))]

    def cite(self, each, request):
        shown = [chunk_id for chunk_id, _ in CHUNK.findall(request.messages[-1][1])]
        ways = (
            each["chunk_ids"],
            [f"pa_{shown[0]}", f"[{shown[-1]}]"],
            [*each["chunk_ids"], "chunk_000000000000"],
            ["chunk_ffffffffffff"],
            [],
            each["chunk_ids"] * 2,
        )
        each["chunk_ids"] = ways[self.way(each["question"], len(ways))]

    def quoted(self, sentence, request):
        words, shown = sentence.split(), sentences(request.messages[-1][1])
        ways = (
            {"quotes": [sentence]},
            {"quotes": ["  " + "\n ".join(words) + "\t"]},
            {"quotes": [" ".join([*words[:-2], "nothing", words[-1]])]},
            {"quotes": [" ".join(reversed(words))]},
            {"quotes": [sentence, sentence, f"{sentence} "]},
            {"quotes": [sentence, "Nobody has ever written this sentence here."]},
            f"They say:\n```json\n{json.dumps({'quotes': [sentence]})}\n```",
            self.once_more(request, {"quotes": [sentence]}),
            '{"quotes": ["',
            {"quotes": ["", "  "]},
            {"quotes": ["the"]},
            {"quotes": [sentence.upper()]},
            {"quotes": [f"“{' '.join(words[:3])} … {' '.join(words[-2:])}”"]},
            {"quotes": [shown[-1], shown[0]]},
            {"quotes": [sentence.replace("'", "’").replace('"', "”").replace("-", "–")]},
        )
        return ways[self.way(sentence, len(ways))]

    def judged(self, question):
        ways = ({"answer": "yes"},) * 6 + ("Yes, they do.", {"answer": "partly"}, {"answer": "no"}, "Perhaps.")
        return ways[self.way(question, len(ways))]


def generated(kind, served, corpus, root, queries_per_doc, **options):
    """Return a generator after it has generated beside a server of its own, and its dataset."""
    _, client = served(UnrulyModel())
    model = LanguageModel(client, "a-model", max_retries=1)
    generator = kind(model, corpus, root=root, section_size=1500, **{"embedder": None, **options})
    with collect_notes() as notes:
        dataset = generator.generate(queries_per_doc, upload_to_langsmith=False)
    assert len(notes) == 1
    return generator, dataset


def adds_up(generator):
    funnel = generator.funnel
    lost = Counter()
    for rejection in generator.rejections:
        assert rejection.reason
        lost[rejection.stage] += rejection.questions
    assert funnel.asked - lost["parsed"] == funnel.parsed
    assert funnel.parsed - lost["verified"] == funnel.verified
    assert funnel.verified - lost["kept"] == funnel.kept > 0
    assert sum(funnel.quotes.values()) == sum(not rejection.questions for rejection in generator.rejections)


@pytest.fixture(params=["handbook", "public"])
def documents(request):
    if request.param == "handbook":
        return demo.load_handbook().corpus, 8
    folder = request.getfixturevalue("shared") / "data" / "chunking_questions" / "corpora"
    return Corpus.from_folder(folder), 60


def test_spans_are_what_their_documents_say_and_everything_else_has_its_reason(served, documents, tmp_path):
    corpus, many = documents
    generator, dataset = generated(TokenLevelDataGenerator, served, corpus, tmp_path / "first", many)
    other, again = generated(TokenLevelDataGenerator, served, corpus, tmp_path / "second", many, max_concurrency=1)
    for entry in dataset:
        assert entry.labels
        for span in entry.labels:
            assert corpus[span.doc_id].content[span.start : span.end] == span.text
            assert span.text.strip()
    assert len(dataset) == generator.funnel.kept
    adds_up(generator)
    assert (dataset, dataset.metadata) == (again, again.metadata)
    assert (generator.funnel, generator.rejections) == (other.funnel, other.rejections)
    reasons = {rejection.reason for rejection in generator.rejections}
    assert reasons >= {
        "request failed",
        "fewer written than asked for",
        "request for quotes failed",
        "quote not in the documents",
        "ambiguous quote",
        "no quote",
        "answered only in part",
        "not answered",
        "could not be checked",
    }


def test_chunks_are_chunks_of_the_documents_and_everything_else_has_its_reason(served, documents, tmp_path):
    corpus, many = documents
    generator, dataset = generated(
        ChunkLevelDataGenerator, served, corpus, tmp_path / "first", many, chunker=CHUNKER, max_concurrency=8
    )
    other, again = generated(ChunkLevelDataGenerator, served, corpus, tmp_path / "second", many, chunker=CHUNKER)
    assert all(chunk_id in generator.chunk_registry for entry in dataset for chunk_id in entry.relevant)
    assert len(dataset) == generator.funnel.kept
    adds_up(generator)
    assert (dataset, dataset.metadata) == (again, again.metadata)
    assert (generator.funnel, generator.rejections) == (other.funnel, other.rejections)
    reasons = {rejection.reason for rejection in generator.rejections}
    assert reasons >= {"unknown chunk id", "no chunk cited", "request failed", "fewer written than asked for"}
