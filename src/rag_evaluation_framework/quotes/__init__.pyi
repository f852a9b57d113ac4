from .hit_locator import HitLocator as HitLocator
from .quote_locator import Located as Located
from .quote_locator import QuoteLocator as QuoteLocator
from .suggestions import Suggestion as Suggestion
from .suggestions import suggest as suggest
