"""Embedders that several tests need."""

from dataclasses import dataclass, field

import numpy as np

from rag_evaluation_framework import Embedder


@dataclass(frozen=True)
class WordCounts(Embedder):
    """One dimension a word: how often it is in the text. The vectors can be worked out by hand; calls are recorded."""

    words: tuple[str, ...]
    batches: list[list[str]] = field(default_factory=list, init=False, repr=False, compare=False)
    questions: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def dimension(self):
        return len(self.words)

    def embed(self, texts):
        self.batches.append(list(texts))
        counts = [[text.lower().count(word) for word in self.words] for text in texts]
        return np.array(counts, dtype=np.float32).reshape(-1, len(self.words))

    def embed_query(self, text):
        self.questions.append(text)
        return super().embed_query(text)
