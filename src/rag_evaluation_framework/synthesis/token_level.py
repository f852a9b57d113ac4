"""`TokenLevelDataGenerator`: questions with the spans of text that answer them."""

from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.labeller import Labeller
from rag_evaluation_framework.synthesis.token_labeller import TokenLabeller


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out; a question without any quote is rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    def labeller(self) -> Labeller[CharacterSpan]:
        """Return what labels spans."""
        return TokenLabeller(self.corpus, self.section_size)
