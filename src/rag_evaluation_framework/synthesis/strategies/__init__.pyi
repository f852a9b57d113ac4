from .cross_document import CrossDocumentQuestions as CrossDocumentQuestions
from .dimensions import DimensionQuestions as DimensionQuestions
from .real_questions import RealQuestions as RealQuestions
from .simple import MultiPassageQuestions as MultiPassageQuestions
from .simple import NoAnswerQuestions as NoAnswerQuestions
from .simple import SimpleQuestions as SimpleQuestions
