from .models import ChatRequest as ChatRequest
from .server import Answer as Answer
from .server import Exchange as Exchange
from .server import Fault as Fault
from .server import Request as Request
