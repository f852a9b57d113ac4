from .oracle import oracle_from_lists as oracle_from_lists
from .ranks import RankJudgements as RankJudgements
from .span_columns import SpanColumns as SpanColumns
from .spans import SpanJudgements as SpanJudgements
