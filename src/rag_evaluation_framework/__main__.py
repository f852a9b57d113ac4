"""`python -m rag_evaluation_framework` is `rag-eval`."""

from .cli.main import main

if __name__ == "__main__":
    main()
