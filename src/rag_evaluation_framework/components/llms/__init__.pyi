from .language_model import AnthropicClient as AnthropicClient
from .language_model import Completion as Completion
from .language_model import KeptAnswers as KeptAnswers
from .language_model import LanguageModel as LanguageModel
