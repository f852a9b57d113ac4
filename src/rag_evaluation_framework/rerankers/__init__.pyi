from .cohere import CohereReranker as CohereReranker
from .cross_encoder import CrossEncoderReranker as CrossEncoderReranker
from .function import FunctionReranker as FunctionReranker
from .late_interaction import LateInteractionReranker as LateInteractionReranker
