from .results import as_hits as as_hits
