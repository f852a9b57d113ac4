from .reading import ContextBudget as ContextBudget
from .reading import HitReader as HitReader
from .text_locator import LinePlaces as LinePlaces
from .text_locator import TextLocator as TextLocator
from .tokenizers import resolve_tokenizer as resolve_tokenizer
