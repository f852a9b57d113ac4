"""Real models that are small enough to be made on the spot."""

import string
import tempfile
from functools import cache
from pathlib import Path

import pytest


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
