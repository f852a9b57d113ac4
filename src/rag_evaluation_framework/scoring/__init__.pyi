from .score import score as score
from .score_names import parse_score as parse_score
from .score_rankings import score_rankings as score_rankings
from .score_spans import score_spans as score_spans
