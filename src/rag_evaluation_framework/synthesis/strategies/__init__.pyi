from .cross_document import CrossDocumentQuestions as CrossDocumentQuestions
from .dimensions import DimensionQuestions as DimensionQuestions
from .multi_passage import MultiPassageQuestions as MultiPassageQuestions
from .no_answer import NoAnswerQuestions as NoAnswerQuestions
from .real_questions import RealQuestions as RealQuestions
from .simple import SimpleQuestions as SimpleQuestions
