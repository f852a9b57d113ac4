from .ranks import RankJudgements as RankJudgements
from .spans import SpanJudgements as SpanJudgements
from .spans import oracle_from_lists as oracle_from_lists
from .stretches import SpanColumns as SpanColumns
