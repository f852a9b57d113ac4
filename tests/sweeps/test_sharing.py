"""A sweep embeds each distinct text once, and a second start of it none: counted, not timed."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Embedder,
    FixedTokenChunker,
    Query,
    RecursiveCharacterChunker,
    Reranker,
    SentenceChunker,
    TokenLevelGroundTruth,
    track_usage,
)
from rag_evaluation_framework.data import TOKEN, QueryId, QueryText
from rag_evaluation_framework.experiments import RunSpec
from rag_evaluation_framework.sweeps import Sweep

EMBEDDED: Counter[str] = Counter()
RERANKED: Counter[str] = Counter()
TOPICS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey")
DOCUMENTS = {
    f"{topic}.md": f"{topic.title()} are sold on Mondays. They cost {number} coins.\n\nAsk for {topic} at the gate. Bring a bag."
    for number, topic in enumerate(TOPICS)
}
CHUNKERS = [RecursiveCharacterChunker(40), RecursiveCharacterChunker(80), SentenceChunker(1, length="sentences")]


@dataclass(frozen=True)
class CountingEmbedder(Embedder):
    """Vectors by the letters of a text; counts every text."""

    @property
    def dimension(self):
        return 26

    def embed(self, texts):
        EMBEDDED.update(texts)
        return np.array([[text.lower().count(chr(97 + row)) for row in range(26)] for text in texts], np.float32) + 0.1


@dataclass(frozen=True)
class CountingReranker(Reranker):
    """Puts short texts first; counts every question."""

    def scores(self, query, texts):
        RERANKED[query] += 1
        return [-len(text) for text in texts]
