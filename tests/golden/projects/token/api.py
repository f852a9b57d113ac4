"""The same from Python: two sizes of chunks, one metric by hand, and the built-in handbook."""

import json
from pathlib import Path

import rag_evaluation_framework as rag

handbook = rag.Corpus.from_folder(Path(rag.__file__).parent / "demo" / "corpus")
corpus = rag.Corpus.from_folder("docs", "**/*.{md,rst,txt}")
dataset = rag.load_dataset(".rag-eval/datasets/questions.json", corpus=corpus)
results = [
    rag.evaluate(rag.BM25Retriever(chunker=rag.RecursiveCharacterChunker(chunk_size=size)), dataset, k=[1, 3])
    for size in (80, 200)
]
comparison = results[0].compare(results[1])
truth, found = rag.CharacterSpan("a", 0, 10), rag.CharacterSpan("a", 5, 20)
told = {
    "handbook": [len(handbook), handbook.content_hash],
    "questions": [len(dataset), dataset.content_hash],
    "metrics": [result.metrics for result in results],
    "changed": {
        name: sorted(query for query, delta in deltas.items() if delta) for name, deltas in comparison.deltas.items()
    },
    "tests": {name: [test.low, test.high, test.p_value] for name, test in comparison.tests.items() if test},
    "iou": rag.SpanIoU().calculate([found], [truth]),
    "chunks": {document.id: len(rag.RecursiveCharacterChunker(400).chunk(document.content)) for document in handbook},
    "ndcg": rag.score_rankings({"a": {"x": 3, "y": 1}}, {"a": ["z", "y", "x"]}, ["ndcg@3"]).mean["ndcg@3"],
}
print(json.dumps(told))
