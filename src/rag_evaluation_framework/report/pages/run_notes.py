"""Notes on a run: what was odd in it, in words."""

from collections.abc import Mapping

RUN_NOTES: Mapping[str, str] = {
    # How the run differs from what its dataset says.
    "no_reranker": "the dataset says mode retrieve+rerank, and nothing is reranked: this run has no reranker",
    "candidates": "rerankTopK={wanted} of the dataset is not applied: this run reranks {own} candidates",
    "no_candidates": "rerankTopK={wanted} of the dataset is not applied: nothing is reranked",
    "one_k": "k={k} is the topK of the dataset",
    "several_k": "questions ask for different numbers of results: {listed}. Scores @topK cut each at its own; the "
    "retriever is asked for at least {most}",
    "not_searched": "documents that no question searches, as they are outside of every scope: {count} of {all}, such "
    "as {first}",
    "edited": "documents have changed since they were labelled: {counted}. rag-eval dataset update writes this into "
    "the dataset",
    # How the retriever was asked.
    "not_closed": "{name} could not be closed: {why}",
    "not_prepared": "{name} could not prepare for all questions together: {why}; each was asked alone",
    "not_together": "{name} could not be asked for many questions together: {why}; each was asked alone",
    "stopped": "stopped: {count} of {all} questions were not asked, as {abandoned} before them had no answer within "
    "{limit:g} s and could not be stopped",
    "unstable": "rankings changed at the top when more results were asked for: {count}; their scores at k are those "
    "of asking for {k}. If the retriever works so, let its prefix_stable be False",
    "limit": "rankings end early, as {limit} is less than was asked for",
    "refused": "{name} failed on every question that was asked for {most} results or more, to fill a budget: {why}. "
    "What it found before is scored; if it has a limit, let it return as many as it can",
    "unfilled": "{mark} rankings that ran out of results before the budget was filled: {listed}",
    "own_number": "{name} returned {most} for {alike} questions and never more, where {k} were asked for; if it has a "
    "number of its own (k, top_k), let it return more",
    # What is odd in results.
    "other_text": "results whose text differs from the text at the place that they name: {count}; the place was "
    "taken. If the retriever does not change texts, its offsets are wrong (they count code points)",
    "unknown_document": "results that name a document which the corpus does not have: {count}, such as {first}; they "
    "are not located. Let the retriever name documents as the corpus does, or leave doc_id out to have their texts "
    "looked for everywhere",
    "other_place": "places that do not hold the result that names them: {count}, such as {first}; it was located by "
    "its text, or not at all. Are the documents those that were indexed? Offsets count code points",
    "whole_documents": "results that name a document and no place in it: of {count} documents, such as {first}; each "
    "such result counts as the whole document. If it is a part, let the retriever return its text, or start and end",
    "repeated": "results that are another one of their ranking once more: {count}; a reader reads them twice",
    "ids_as_texts": "results that are the id of a document, and were read as a text: {count}, such as {first}; let "
    "the retriever return {{'doc_id': ...}} for each",
    "several_places": "results whose text occurs more than once: {count}; the first free place was taken, or the "
    "nearest to their start. Let the retriever return doc_id, or doc_id, start and end, to be sure",
    "no_results": "the retriever returned no results for any question that did not fail ({count} of {all})",
    "no_places": "most results have no {noun}{example}. Are the documents those that were indexed? Let the retriever "
    "return their text as it is, or doc_id, start and end",
    "not_before": "before reranking, a metric failed on {count} of {all} questions, the first {first}: {why}",
    # What became of the answers of earlier starts.
    "another_run": "another run of this configuration is under way; each keeps its own answers",
    "answers": "{count} of {all} questions were answered by the run that began at {created} UTC and was interrupted; "
    "their answers are taken (--fresh asks all)",
    "answers_at_other_cutoffs": "{count} of {all} questions were answered by the run that began at {created} UTC and "
    "was interrupted; k or budgets are others now: they are asked again where these need another number of results "
    "(--fresh asks all)",
    "changed": "{changed} changed since some of these answers",
    "not_used": "answers of an interrupted run in {where} are not used: {why}. All questions are asked",
    "other_version": "another version of rag-eval wrote them, or they are damaged",
    "since": "{changed} changed since",
    "unsure": "nothing tells whether what is asked has changed since; --resume takes them",
    "none_kept": "no answer is kept",
    "kept": "answers to {count} of {all} questions are kept; run it again to go on",
    "kept_unsure": "answers to {count} of {all} questions are kept; run it again with --resume to go on",
    "not_kept": "answers cannot be kept any more in {where} ({why}); the run goes on",
    # What of a run is asked anew, if it changed since.
    "corpus": "the documents",
    "cutoffs": "k or budgets",
    "questions": "the questions",
    "versions": "the version of Python or of a package",
    "code": "the code of the retriever or what it imports",
}
