"""An engine in a file, whose documents stay from one command to the next, and a reranker."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from rag_evaluation_framework import Reranker

KEPT = Path("engine.json")


def words(text):
    return set(re.findall(r"\w+", text.lower()))


class Engine:
    def __init__(self):
        self.documents = json.loads(KEPT.read_text()) if KEPT.exists() else {}

    def ingest(self, document):
        self.documents[document.id] = document.content
        KEPT.write_text(json.dumps(self.documents))

    def delete(self, scope_prefix):
        self.documents = {key: text for key, text in self.documents.items() if not key.startswith(scope_prefix)}
        KEPT.write_text(json.dumps(self.documents))

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        shared = [
            (len(words(query) & words(text)), key) for key, text in self.documents.items() if key.startswith(scope)
        ]
        ranked = sorted((pair for pair in shared if pair[0]), key=lambda pair: (-pair[0], pair[1]))
        return [{"doc_id": key, "text": self.documents[key], "score": score} for score, key in ranked[:top_k]]


@dataclass(frozen=True)
class Shortest(Reranker):
    def rerank(self, query, chunks, top_k=None):
        return sorted(chunks, key=lambda chunk: len(chunk.content))[:top_k]


make = Engine
