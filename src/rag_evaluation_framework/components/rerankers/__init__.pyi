from .function import FunctionReranker as FunctionReranker
from .models import CohereReranker as CohereReranker  # cohere
from .models import CrossEncoderReranker as CrossEncoderReranker  # cross-encoder
