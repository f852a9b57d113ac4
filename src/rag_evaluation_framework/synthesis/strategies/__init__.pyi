from .simple import SimpleQuestions as SimpleQuestions
