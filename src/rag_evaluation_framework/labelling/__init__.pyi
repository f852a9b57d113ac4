from .quotes import QuoteCheck as QuoteCheck
from .quotes import QuoteRow as QuoteRow
from .quotes import check_quotes as check_quotes
