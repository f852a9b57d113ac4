"""Real models that are small enough to be made on the spot."""

import re
import string
import tempfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import Embedder


@dataclass(frozen=True)
class WordVectors(Embedder):
    """An embedder of tokens: every word has a unit vector of its own, at right angles to (nearly) all others."""

    dimension: int = 512

    def embed(self, texts):
        sums = [vectors.sum(axis=0) for vectors in self.embed_tokens(texts)]
        return np.stack(sums) if sums else np.zeros((0, self.dimension), dtype=np.float32)

    def embed_tokens(self, texts):
        return [self._vectors(re.findall(r"\w+", text.lower())) for text in texts]

    def _vectors(self, words):
        vectors = np.zeros((len(words), self.dimension), dtype=np.float32)
        for row, word in enumerate(words):
            vectors[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimension] = 1
        return vectors


@cache
def tiny_cross_encoder(outputs=1) -> str:
    """Return the folder of a BERT with so many outputs a pair: random weights, characters as vocabulary.

    Skips, visibly, where its library is not installed.
    """
    pytest.importorskip("sentence_transformers", reason="needs the extra sentence-transformers")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = Path(tempfile.mkdtemp(prefix="tiny-cross-encoder-"))
    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
        num_labels=outputs,
        initializer_range=0.8,
    )
    with torch.random.fork_rng():
        torch.manual_seed(20_261_120)
        model = transformers.BertForSequenceClassification(config)
    model.save_pretrained(folder)
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=128)
    tokenizer.save_pretrained(folder)
    return str(folder)
