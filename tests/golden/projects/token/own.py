from dataclasses import dataclass

from rag_evaluation_framework import Reranker


@dataclass(frozen=True)
class Shortest(Reranker):
    def rerank(self, query, chunks, top_k=None):
        return sorted(chunks, key=lambda chunk: len(chunk.content))[:top_k]
