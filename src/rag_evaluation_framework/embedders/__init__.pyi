from .cached import CachedEmbedder as CachedEmbedder
from .cached import EmbeddingCache as EmbeddingCache
from .cohere import CohereEmbedder as CohereEmbedder
from .function import FunctionEmbedder as FunctionEmbedder
from .lsa import LsaEmbedder as LsaEmbedder
from .onnx_model import exports as exports
from .openai import OpenAIEmbedder as OpenAIEmbedder
from .sentence_transformer import SentenceTransformerEmbedder as SentenceTransformerEmbedder
