"""A language model that is scripted: it writes questions about the sentences that it is shown, and quotes them.

What it answers depends on what it is asked alone, never on the order in which it is asked.
"""

import re
from collections.abc import Callable

SENTENCE = re.compile(r"[^.!?\n]{12,}[.!?]")
PASSAGE = re.compile(r"<passage[^>]*? document=\"(.*?)\"[^>]*>\n(.*?)\n</passage>", re.DOTALL)
CHUNK = re.compile(r"^\[(chunk_\w+)\]: '(.*?)'$", re.DOTALL | re.MULTILINE)
COUNT = re.compile(r"Number of questions: (\d+)")
QUESTION = re.compile(r"Question: (.*)\Z", re.DOTALL)


def question_of(sentence):
    """Return a question with the words of a sentence, and not its wording."""
    return f"What about {' '.join(reversed(sentence.rstrip('.!?').lower().split()))}?"


class ScriptedModel:
    """Answers a `ChatRequest`: questions, quotes, or verdicts, by what is asked for.

    Args:
        quote: Changes what is answered to a request for quotes: `(sentence, request) -> answer`.
        questions: Changes what is answered to a request for questions: `(answer, request) -> answer`.
        verdict: `(question) -> answer` of the second call.
        numbers: `(question, request) -> answer` where it chooses from numbered texts; by default none.
    """

    def __init__(
        self,
        quote: Callable | None = None,
        questions: Callable | None = None,
        verdict: Callable | None = None,
        numbers: Callable | None = None,
    ):
        self.quote = quote or (lambda sentence, request: {"quotes": [sentence]})
        self.questions = questions or (lambda answer, request: answer)
        self.verdict = verdict or (lambda question: {"answer": "yes"})
        self.numbers = numbers or (lambda question, request: {"numbers": []})

    def __call__(self, request):
        text = request.messages[-1][1]
        if (count := COUNT.search(text)) is not None:
            return self.questions(self._asked(text, int(count[1])), request)
        question = QUESTION.search(text)[1]
        if "<excerpt number" in text:
            return self.numbers(question, request)
        if "<excerpt" in text:
            return self.verdict(question)
        if chunks := CHUNK.findall(text):
            return {"chunk_ids": [chunks[0][0]]}
        sentence = next((one for one in sentences(text) if question_of(one) == question), sentences(text)[0])
        return self.quote(sentence, request)

    def _asked(self, text, count):
        chunks = CHUNK.findall(text)
        if chunks:
            found = [(one, chunk_id) for chunk_id, content in chunks for one in SENTENCE.findall(content)]
            return {"questions": [{"question": question_of(one), "chunk_ids": [key]} for one, key in found[:count]]}
        return {"questions": [{"question": question_of(one)} for one in sentences(text)[:count]]}


def sentences(text):
    """Return the sentences of the passages of a prompt, as they are shown."""
    return [one.strip() for _, passage in PASSAGE.findall(text) for one in SENTENCE.findall(passage)]
