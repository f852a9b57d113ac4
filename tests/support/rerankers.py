"""Rerankers that several tests need."""

import re
from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework.components.rerankers.function import ScoringReranker


@dataclass(frozen=True)
class SharedWords(ScoringReranker):
    """Scores a text by the share of the question's words that are in it."""

    def scores(self, query, texts):
        asked = re.findall(r"\w+", query.lower())
        found = [set(re.findall(r"\w+", text.lower())) for text in texts]
        return np.array([sum(word in words for word in asked) / max(len(asked), 1) for words in found])
