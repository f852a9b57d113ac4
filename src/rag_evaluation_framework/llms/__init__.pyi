from .anthropic import AnthropicClient as AnthropicClient
from .language_model import Completion as Completion
from .language_model import LanguageModel as LanguageModel
