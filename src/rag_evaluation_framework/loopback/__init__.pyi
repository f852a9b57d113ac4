from .chat import ChatRequest as ChatRequest
from .messages import Answer as Answer
from .messages import Fault as Fault
from .messages import Request as Request
from .server import Exchange as Exchange
