from .files import write_new as write_new
from .load import load_dataset as load_dataset
from .native import save_dataset as save_dataset
from .quotes import QuoteCheck as QuoteCheck
from .quotes import QuoteRow as QuoteRow
from .quotes import check_quotes as check_quotes
