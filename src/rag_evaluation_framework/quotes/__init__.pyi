from .hit_locator import HitLocator as HitLocator
from .quote_locator import Located as Located
from .quote_locator import QuoteLocator as QuoteLocator
from .quote_locator import show_the_same as show_the_same
from .suggestions import Suggestion as Suggestion
from .suggestions import suggest as suggest
