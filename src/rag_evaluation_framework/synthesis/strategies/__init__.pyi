from .dimensions import DimensionQuestions as DimensionQuestions
from .documents import CrossDocumentQuestions as CrossDocumentQuestions
from .documents import MultiPassageQuestions as MultiPassageQuestions
from .documents import NoAnswerQuestions as NoAnswerQuestions
from .documents import SimpleQuestions as SimpleQuestions
from .real_questions import RealQuestions as RealQuestions
