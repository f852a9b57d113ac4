"""What the filters of synthetic questions do to public questions, and what those are like: the figures of the docs.

    python benchmarks/public_questions.py --data FOLDER [--covid-qa FILE] [--similar FILE] [--json]

- `--data`: a folder with `corpora/*.md` and `questions_df.csv`: Chroma's "Evaluating Chunking Strategies for Retrieval"
  (github.com/brandonstarxel/chunking_evaluation). GPT-4 wrote these questions, and embeddings of OpenAI filtered them.
- `--covid-qa`: `data/question-answering/200423_covidQA.json` of github.com/deepset-ai/COVID-QA: questions of
  annotators who had the paper before them. An answer is taken where its text stands nearest to its offset.
- `--similar`: `data/eval_question_similarity_en.csv` from there: pairs of questions, called alike or not by people.

Rows of filters: a threshold that suits LSA, how many questions it rejects, beside the published figure. With `--json`
the package's `inspection/public_figures.json` is printed, to be compared or renewed.
"""

import argparse
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
)
from rag_evaluation_framework.authoring.models import filters
from rag_evaluation_framework.components.embedders import LsaEmbedder
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.datasets.checks import dataset_quality, word_likeness

TOLD = {
    "chroma": {
        "title": "by a model",
        "authors": "GPT-4 wrote them about three documents (2024), embeddings filtered them; no person asked",
        "source": "Chroma, Evaluating Chunking Strategies for Retrieval; github.com/brandonstarxel/chunking_evaluation",
    },
    "covid_qa": {
        "title": "by people",
        "authors": "annotators wrote them about 98 papers (2020), with the paper before them; no user asked",
        "source": "COVID-QA of 23 April 2020; github.com/deepset-ai/COVID-QA",
    },
}


def chroma(folder: Path) -> Dataset[CharacterSpan]:
    """Return the questions of Chroma's report, with their documents."""
    corpus = Corpus.from_folder(folder / "corpora")
    return load_dataset(folder / "questions_df.csv", corpus=corpus)


def covid(file: Path) -> Dataset[CharacterSpan]:
    """Return the questions of COVID-QA whose answers stand in their papers."""
    papers = [part for article in json.loads(file.read_text("utf-8"))["data"] for part in article["paragraphs"]]
    corpus = Corpus(Document(DocumentId(f"{paper['document_id']}"), paper["context"]) for paper in papers)
    entries = [entry for paper in papers for entry in _entries(paper)]
    return Dataset(entries, TOKEN, name="COVID-QA", corpus=corpus)


def _entries(paper: dict[str, Any]) -> Iterator[TokenLevelGroundTruth]:
    text: str = paper["context"]
    for asked in paper["qas"]:
        spans: list[CharacterSpan] = []
        for answer in asked["answers"]:
            quote = answer["text"].strip()
            starts = [at for at in range(len(text)) if text.startswith(quote, at)] if quote else []
            if starts:
                start = min(starts, key=lambda at: abs(at - answer["answer_start"]))
                spans.append(CharacterSpan(DocumentId(f"{paper['document_id']}"), start, start + len(quote), quote))
        if spans:
            wording = QueryText(" ".join(asked["question"].split()))
            yield TokenLevelGroundTruth(Query(QueryId(f"{asked['id']}"), wording), tuple(spans))


def within(dataset: Dataset[CharacterSpan], doc_id: DocumentId) -> Dataset[CharacterSpan]:
    """Return the questions about one document, with it as the corpus."""
    documents = dataset.corpus or Corpus([])
    mine = [entry for entry in dataset if all(span.doc_id == doc_id for span in entry.labels)]
    return Dataset(mine, TOKEN, name=doc_id, corpus=Corpus([documents[doc_id]]))


def measure_filters(name: str, dataset: Dataset[CharacterSpan]) -> None:
    """Print what each filter does to the questions of a dataset."""
    questions = [entry.query.text for entry in dataset if entry.relevant]
    excerpts = [[span.text for span in entry.relevant] for entry in dataset if entry.relevant]
    documents = [document.content for document in dataset.corpus or ()]
    embedder = LsaEmbedder().fit(documents)
    print(f"\n{name}: {len(questions):,} questions")
    for least in (0.20, filters.RELEVANCE_THRESHOLD):
        rejected = sum(bool(one) for one in filters.reject_irrelevant(questions, excerpts, embedder, least))
        other = excerpts[1:] + excerpts[:1]  # of another question: the next, so often of the same topic
        passed = sum(not one for one in filters.reject_irrelevant(questions, other, embedder, least))
        print(
            f"  relevance {least:.2f}: rejects {rejected:,} ({rejected / len(questions):.1%}); with the next "
            f"excerpts {passed / len(questions):.1%} pass"
        )
    for most in (0.93, filters.DEDUP_THRESHOLD):
        again = sum(bool(one) for one in filters.reject_near_duplicates(questions, embedder, most))
        print(f"  near-duplicates {most:.2f}: rejects {again:,}")


def measure_pairs(file: Path, documents: list[str]) -> None:
    """Print how often pairs of questions that people called alike, or not, are above thresholds."""
    with file.open(encoding="utf-8", newline="") as rows:
        found = [*csv.DictReader(rows)]
    asked, again = ([row[key] for row in found] for key in ("question_1", "question_2"))
    alike = np.array([row["similar"] == "1" for row in found])
    embedder = LsaEmbedder().fit(documents)
    cosines = (embedder.embed_queries(asked) * embedder.embed_queries(again)).sum(axis=1)
    shared = np.array([word_likeness(one, other) for one, other in zip(asked, again, strict=True)])
    print(f"\n{alike.sum()} pairs called alike, {(~alike).sum()} called different")
    for name, figures, thresholds in (
        ("cosine of LSA", cosines, (0.70, 0.80, 0.90, 0.93)),
        ("shared words", shared, (0.40, 0.50, 0.60, 0.70)),
    ):
        for least in thresholds:
            right, wrong = (figures[alike] >= least).mean(), (figures[~alike] >= least).mean()
            print(f"  {name} from {least:.2f}: {right:.1%} of those alike, {wrong:.1%} of the others")


def main() -> None:
    """Measure the filters and the datasets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--covid-qa", type=Path)
    parser.add_argument("--similar", type=Path)
    parser.add_argument("--json", action="store_true", help="print the figures of the datasets as the package has them")
    options = parser.parse_args()
    sets = {"chroma": chroma(options.data)}
    if options.covid_qa:
        sets["covid_qa"] = covid(options.covid_qa)
    if options.json:
        found = [{**TOLD[name], "quality": dataset_quality(dataset).record()} for name, dataset in sets.items()]
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for document in sets["chroma"].corpus or ():
        measure_filters(document.id, within(sets["chroma"], document.id))
    for name, dataset in sets.items():
        measure_filters(name, dataset)
    if options.similar and "covid_qa" in sets:
        measure_pairs(options.similar, [document.content for document in sets["covid_qa"].corpus or ()])


if __name__ == "__main__":
    main()
