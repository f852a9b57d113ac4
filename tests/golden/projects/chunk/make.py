"""A dataset of chunks: those of 150 characters that hold the words of each question."""

from pathlib import Path

import rag_evaluation_framework as rag

WORDS = {
    "When are invoices sent?": "Invoices",
    "What is encrypted?": "encrypted",
    "Which port?": "port 443",
    "Why?": "@",
}
corpus = rag.Corpus.from_folder("docs", "**/*.{md,rst,txt}")
cut = rag.RecursiveCharacterChunker(chunk_size=150)
registry = rag.ChunkRegistry(chunk for document in corpus for chunk in cut.chunk_with_positions(document))
registry.save("chunks.jsonl")
labels = [
    rag.ChunkLevelGroundTruth(rag.Query.from_text(text), [chunk.id for chunk in registry if words in chunk.content])
    for text, words in WORDS.items()
]
rag.save_dataset(rag.Dataset(labels, rag.CHUNK, name="chunks", corpus=corpus), Path("chunks.json"))
