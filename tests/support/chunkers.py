"""Chunkers that several tests need."""

from dataclasses import dataclass

from rag_evaluation_framework import Chunker


@dataclass(frozen=True)
class Lines(Chunker):
    """One chunk a line, without positions."""

    def chunk(self, text):
        return text.splitlines()


@dataclass(frozen=True)
class Paragraphs(Chunker):
    """Splits like most chunkers do: without positions, and stripping what it cuts."""

    def chunk(self, text):
        return [paragraph.strip() for paragraph in text.split("\n\n") if paragraph.strip()]
