"""Loading the built-in corpus and its questions."""

from pathlib import Path

from ..data import CharacterSpan, Corpus, Dataset
from ..datasets.load import load_dataset

_HERE = Path(__file__).parent


def load_handbook() -> Dataset[CharacterSpan]:
    """Return the questions about the handbook, with the handbook as their corpus."""
    return load_dataset(_HERE / "questions.json", corpus=Corpus.from_folder(_HERE / "corpus"))
