import json

import pytest

from rag_evaluation_framework import (
    CHUNK,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.datasets import native
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from support.each import each

REFUNDS = "Refunds take five working days."
ANSWERS = "Support answers within one day."


def span_of(corpus, doc_id, text):
    start = corpus[doc_id].content.index(text)
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


@pytest.fixture
def dataset(corpus):
    asked = [
        (
            Query(
                QueryId("money"), QueryText("How long do refunds – “Erstattungen” 💶 – take?"), {"tags": ["billing"]}
            ),
            [span_of(corpus, "billing.md", REFUNDS)],
        ),
        (
            Query.from_text("When does support answer?"),
            [span_of(corpus, f"guides/{name}.md", ANSWERS) for name in ("start", "stop")],
        ),
        (Query.from_text("Who is the king?"), []),
    ]
    truth = [TokenLevelGroundTruth(query, spans) for query, spans in asked]
    return Dataset(truth, TOKEN, name="handbook", corpus=corpus, metadata={"author": "Zoë", "round": 2})


def question(**changes):
    return {
        "id": "q1",
        "query": "How long do refunds take?",
        "relevant_spans": [{"doc_id": "billing.md", "start": 0, "end": 9}],
        **changes,
    }


def written(folder, *questions, file="data.json", **header):
    """Write a dataset by hand, as JSON or, by the ending, as JSONL."""
    path, header = folder / file, {"schema_version": 1, **header}
    if file.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in (header, *questions)), encoding="utf-8")
    else:
        path.write_text(json.dumps({**header, "questions": list(questions)}), encoding="utf-8")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def texts(dataset):
    return [[span.text for span in entry.relevant] for entry in dataset]


# --- what is written ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["handbook.json", "handbook.jsonl"])
@pytest.mark.parametrize("with_corpus", [True, False], ids=["corpus", "no corpus"])
def test_a_dataset_that_was_saved_is_read_back_equal(tmp_path, dataset, corpus, name, with_corpus):
    path = save_dataset(dataset, tmp_path / "deep" / "er" / name)
    again = load_dataset(path, corpus=corpus if with_corpus else None)
    assert again == dataset
    assert texts(again) == texts(dataset)  # equality of spans does not look at their text
    assert again.content_hash == dataset.content_hash
    assert again.corpus_hash == corpus.content_hash


def test_json_and_jsonl_hold_the_same(tmp_path, dataset):
    one, other = (load_dataset(save_dataset(dataset, tmp_path / f"d{ending}")) for ending in (".JSON", ".jsonl"))
    assert one == other
    assert texts(one) == texts(other)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_control_codes_are_written_as_escapes(tmp_path, name):
    asked = Query(QueryId("a"), QueryText("red\x9b31m\x7f\x85?"))
    made = Dataset([TokenLevelGroundTruth(asked, ())], TOKEN, name="odd")
    path = save_dataset(made, tmp_path / name)
    assert r"red\u009b31m\u007f\u0085?" in path.read_text(encoding="utf-8")
    assert load_dataset(path) == made


def test_jsonl_has_a_header_line_and_one_line_a_question(tmp_path, dataset):
    lines = save_dataset(dataset, tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()
    header, *rows = map(json.loads, lines)
    assert (header["schema_version"], header["evaluation_type"], header["name"]) == (1, "token-level", "handbook")
    assert [row["id"] for row in rows] == [entry.query.id for entry in dataset]


def test_spans_include_their_text_and_nothing_else(tmp_path, dataset, corpus):
    content = json.loads(save_dataset(dataset, tmp_path / "d.json").read_text(encoding="utf-8"))
    (span,) = content["questions"][0]["relevant_spans"]
    assert span == {
        "doc_id": "billing.md",
        "start": span["start"],
        "end": span["start"] + len(REFUNDS),
        "text": REFUNDS,
    }
    assert span["start"] == corpus["billing.md"].content.index(REFUNDS)


def test_the_text_is_written_even_if_the_span_does_not_carry_it(tmp_path, corpus):
    bare = CharacterSpan(DocumentId("billing.md"), 0, 9)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("q"), [bare])], TOKEN, corpus=corpus)
    assert texts(load_dataset(save_dataset(dataset, tmp_path / "d.json"))) == [["# Billing"]]


def test_without_corpus_a_span_is_written_with_what_it_knows(tmp_path):
    spans = [CharacterSpan(DocumentId("a.md"), 0, 4, "Text"), CharacterSpan(DocumentId("a.md"), 5, 9)]
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("q"), spans)], TOKEN)
    content = json.loads(save_dataset(dataset, tmp_path / "d.json").read_text(encoding="utf-8"))
    assert content["questions"][0]["relevant_spans"] == [
        {"doc_id": "a.md", "start": 0, "end": 4, "text": "Text"},
        {"doc_id": "a.md", "start": 5, "end": 9},
    ]


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_saving_never_overwrites(tmp_path, dataset, name):
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(DatasetError, match="already exists and is not overwritten"):
        save_dataset(dataset, path)
    assert path.read_text() == "mine"
    assert names(tmp_path) == [name]


def test_saving_under_another_ending_is_refused_before_anything_is_written(tmp_path, dataset):
    with pytest.raises(DatasetError, match=r"\.json or \.jsonl"):
        save_dataset(dataset, tmp_path / "d.csv")
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path, dataset):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DatasetError, match=r"d\..*cannot be written.* \(Not a directory\); choose another path"):
        save_dataset(dataset, tmp_path / "file" / "d.json")
    assert names(tmp_path) == ["file"]


def test_a_process_that_is_killed_leaves_no_file_without_its_texts(tmp_path, dataset, monkeypatch):
    def killed(path, text):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(native, "write_new", killed)
        with pytest.raises(SystemExit):
            save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == (["d.texts"] if dataset.texts else [])
    save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == ["d.json", "d.texts"] if dataset.texts else ["d.json"]


def test_nothing_is_left_behind_but_the_file_itself(tmp_path, dataset):
    save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == ["d.json", "d.texts"] if dataset.texts else ["d.json"]


def test_a_saved_file_may_be_read_by_whoever_may_read_new_files(tmp_path, dataset):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("")
    assert save_dataset(dataset, tmp_path / "d.json").stat().st_mode == ordinary.stat().st_mode


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_lone_surrogate_in_a_question_is_refused_and_nothing_is_left_behind(tmp_path, corpus, name):
    query = Query(QueryId("odd"), QueryText("lone \udc80 surrogate"))
    dataset = Dataset([TokenLevelGroundTruth(query, [span_of(corpus, "billing.md", REFUNDS)])], TOKEN, corpus=corpus)
    with pytest.raises(DatasetError, match="question 'odd': contains a lone surrogate"):
        save_dataset(dataset, tmp_path / name)
    assert names(tmp_path) == []


def test_a_dataset_that_cannot_be_written_leaves_nothing_behind(tmp_path, corpus):
    query = Query(QueryId("q"), QueryText("q"), {"weight": float("nan")})
    dataset = Dataset([TokenLevelGroundTruth(query, [span_of(corpus, "billing.md", REFUNDS)])], TOKEN, corpus=corpus)
    with pytest.raises(ValueError, match="JSON"):
        save_dataset(dataset, tmp_path / "d.json")
    assert names(tmp_path) == []


# --- what is read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_files_of_typescript_tools_write_camel_case(tmp_path, corpus, ending):
    path = tmp_path / f"d{ending}"
    header = {"schemaVersion": 1, "evaluationType": "token-level", "name": "ts", "corpusHash": corpus.content_hash}
    row = {"id": "q1", "query": "?", "relevantSpans": [{"docId": "billing.md", "start": 0, "end": 9}]}
    rows = [header, row] if ending == ".jsonl" else [{**header, "questions": [row]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    dataset = load_dataset(path)
    assert dataset.corpus_hash == corpus.content_hash
    assert dataset.ground_truth[0].relevant == (CharacterSpan(DocumentId("billing.md"), 0, 9),)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_unknown_keys_are_kept_as_metadata_with_a_warning(tmp_path, name):
    path = written(tmp_path, question(difficulty="hard"), question(id="q2", difficulty="easy"), file=name, owner="me")
    with pytest.warns(UserWarning, match="unknown key") as caught:
        dataset = load_dataset(path)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2  # one a key, however often it occurs
    assert [any(f"unknown key {key!r}" in message for message in messages) for key in ("owner", "difficulty")] == [
        True,
        True,
    ]
    assert dataset.metadata == {"owner": "me"}
    assert [query.metadata for query in dataset.queries] == [{"difficulty": "hard"}, {"difficulty": "easy"}]


def test_an_unknown_key_of_a_span_is_warned_of_too(tmp_path):
    path = written(tmp_path, question(relevant_spans=[{"doc_id": "a.md", "start": 0, "end": 9, "label": "main"}]))
    with pytest.warns(UserWarning, match="'label'"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("d.json", '{"schema_version": 1, "name": "a", "name": "b", "questions": []}', "duplicate key 'name'"),
        (
            "d.json",
            '{"schema_version": 1, "questions": [{"id": "a", "id": "b", "query": "?", "relevant_spans": []}]}',
            "duplicate key 'id'",
        ),
        (
            "d.jsonl",
            '{"schema_version": 1}\n{"id": "a", "query": "?", "query": "!", "relevant_spans": []}\n',
            "line 2: .*duplicate key 'query'",
        ),
    ],
)
def test_repeated_keys_are_refused(tmp_path, name, text, where):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=where):
        load_dataset(tmp_path / name)


@each(
    ("bad", "where"),
    [
        (question(id=7), r"\$\.questions\[0\]\.id: "),
        (question(id=""), r"\$\.questions\[0\]\.id: "),
        (question(query=""), r"\$\.questions\[0\]\.query: "),
        (question(query=None), r"\$\.questions\[0\]\.query: "),
        (question(metadata="x"), r"\$\.questions\[0\]\.metadata: "),
        (question(relevant_spans="x"), r"\$\.questions\[0\]\.relevant_spans: "),
        (question(relevant_spans=[7]), r"\$\.questions\[0\]\.relevant_spans\[0\]: "),
        (
            question(relevant_spans=[{"doc_id": "a", "start": "0", "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": 0, "end": 9.5}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.end: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": -1, "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (
            question(relevant_spans=[{"doc_id": "a", "start": True, "end": 9}]),
            r"\$\.questions\[0\]\.relevant_spans\[0\]\.start: ",
        ),
        (question(relevant_spans=[{"doc_id": "a", "start": 9, "end": 0}]), r"relevant_spans\[0\]: .*\[9:0\]"),
        (question(relevant_spans=[{"doc_id": "a", "start": 9, "end": 9}]), r"relevant_spans\[0\]: .*is empty"),
        (
            question(relevant_spans=[{"doc_id": "a", "start": 0, "end": 9, "text": "short"}]),
            r"relevant_spans\[0\]: .*covers 9 characters, but its text has 5",
        ),
        ("no object", r"\$\.questions\[0\]: "),
    ],
)
def test_a_bad_value_is_named_by_its_json_path(tmp_path, bad, where):
    with pytest.raises(DatasetError, match=where) as caught:
        load_dataset(written(tmp_path, bad))
    assert "data.json" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("d.json", ["$.questions[0].id: ", "$.questions[2].query: "]),
        ("d.jsonl", ["line 2: $.id: ", "line 4: $.query: "]),
    ],
)
def test_all_problems_are_reported_at_once_each_on_its_own_line(tmp_path, name, places):
    path = written(tmp_path, question(id=1), question(), question(id="q3", query=3), file=name)
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    first, *lines = str(caught.value).splitlines()
    assert first == f"{path}: 2 problems:"
    assert sorted(line.strip().startswith(tuple(places)) for line in lines) == [True] * 2
    assert all(any(line.strip().startswith(place) for line in lines) for place in places)


def test_a_value_that_is_cut_off_in_a_message_ends_in_an_ellipsis(tmp_path):
    with pytest.raises(DatasetError, match=r", got \['xxx.*…$") as caught:
        load_dataset(written(tmp_path, question(query=["x" * 25, "y" * 25, "z" * 25])))
    assert len(str(caught.value).partition(", got ")[2]) == 60


def test_of_very_many_problems_fifty_are_shown_and_the_rest_counted(tmp_path):
    with pytest.raises(DatasetError) as caught:
        load_dataset(written(tmp_path, *[question(id=number) for number in range(52)]))
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("52 problems:")
    assert (len(lines), lines[-1].strip()) == (52, "… and 2 more")


@each(
    ("content", "message"),
    [
        ({"schema_version": 3, "questions": []}, r"\$\.schema_version: .*2"),
        ({"schema_version": "1", "questions": []}, r"\$\.schema_version: "),
        ({"questions": []}, r"\$\.schema_version is missing"),
        ([], "holds no questions"),
        (7, "is not a dataset: expected .* got 7"),
        ({"k": [5]}, "is not a dataset: expected .* got an object with k"),
        ({"schema_version": 1}, r"\$\.questions: expected a list"),
        ({"schema_version": 1, "questions": {}}, r"\$\.questions: expected a list"),
        ({"schema_version": 1, "evaluation_type": "page-level", "questions": []}, r"\$\.evaluation_type: "),
        ({"schema_version": 1, "questions": []}, "holds no questions"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path, content, message):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DatasetError, match=message):
        load_dataset(path)


def test_duplicate_question_ids_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="'q1' is already the id of an earlier question"):
        load_dataset(written(tmp_path, question(), question()))


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"schema_version": 1, "name": "\xff"', "not valid UTF-8.*save the file as UTF-8"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON: nested too deeply"),
    ],
    ids=["bad UTF-8", "cut off", "bottomless"],
)
def test_a_file_that_is_not_json_in_utf_8_is_refused(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path, name):
    path = written(tmp_path, question(metadata={"weight": float("nan")}), file=name)
    with pytest.raises(DatasetError, match="not valid JSON"):
        load_dataset(path)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_numbers_too_large_for_a_float_are_refused_with_their_line_in_jsonl(tmp_path, name, number):
    path = written(tmp_path, question(metadata={"weight": "NUMBER"}), file=name)
    text = path.read_text().replace('"NUMBER"', number)
    path.write_text(text)
    line = 1 + text[: text.index(number)].count("\n")
    with pytest.raises(DatasetError, match=f"{number} is too large for a floating-point number") as caught:
        load_dataset(path)
    assert name == "d.json" or f"line {line}: not valid JSON" in str(caught.value)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_missing_file_and_a_folder_are_refused(tmp_path, name):
    with pytest.raises(DatasetError, match=f"{name}: cannot be read"):
        load_dataset(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(DatasetError, match=f"{name}: cannot be read"):
        load_dataset(tmp_path / name)


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_byte_order_mark_and_windows_newlines_do_no_harm(tmp_path, name):
    plain = written(tmp_path, question(), file=name)
    odd = tmp_path / f"odd-{name}"
    odd.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert load_dataset(odd).ground_truth == load_dataset(plain).ground_truth


def test_with_the_corpus_documents_may_be_named_by_their_stem(tmp_path, corpus):
    spans = [{"doc_id": name, "start": 0, "end": 3} for name in ("billing", "start.md", "guides/stop.md")]
    dataset = load_dataset(written(tmp_path, question(relevant_spans=spans)), corpus=corpus)
    assert [span.doc_id for span in dataset.ground_truth[0].relevant] == [
        "billing.md",
        "guides/start.md",
        "guides/stop.md",
    ]


@pytest.mark.parametrize("name", ["stop.md", "old/stop.md"])
def test_an_id_that_was_written_with_its_hash_is_exact(tmp_path, corpus, name):
    span = {"doc_id": name, "start": 0, "end": 3, "text": "One"}
    path = written(tmp_path, question(relevant_spans=[span]), texts={name: "0" * 64})
    (entry,) = load_dataset(path, corpus=corpus)
    assert [span.doc_id for span in entry.relevant] == [name]


def test_with_the_corpus_an_unknown_document_is_refused_with_its_location(tmp_path, corpus):
    path = written(tmp_path, question(relevant_spans=[{"doc_id": "prices.md", "start": 0, "end": 3}]))
    with pytest.raises(
        DatasetError, match=r"\$\.questions\[0\]\.relevant_spans\[0\]: the corpus has no document 'prices.md'"
    ):
        load_dataset(path, corpus=corpus)


def test_a_span_with_its_text_may_be_in_a_document_that_is_gone(tmp_path, corpus):
    path = written(tmp_path, question(relevant_spans=[{"doc_id": "prices.md", "start": 3, "end": 6, "text": "Ten"}]))
    (entry,) = load_dataset(path, corpus=corpus)
    assert entry.relevant == (CharacterSpan(DocumentId("prices.md"), 3, 6, "Ten"),)


def test_a_level_other_than_that_of_the_file_is_refused(tmp_path):
    with pytest.raises(LevelMismatch, match=r"token-level.*chunk-level"):
        load_dataset(written(tmp_path, question()), CHUNK)


# --- offsets as JavaScript counts them --------------------------------------------------------------------------------

EMOJI = "😀 one 👩‍👧 two 😀"


@pytest.fixture
def emoji():
    return Corpus([Document(DocumentId("e.md"), EMOJI)])


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("quote", ["😀", "one", "👩‍👧", "two 😀", EMOJI])
def test_utf_16_offsets_become_code_points(tmp_path, emoji, quote):
    place = EMOJI.rindex(quote)
    start = utf16(EMOJI[:place])
    span = {"doc_id": "e.md", "start": start, "end": start + utf16(quote), "text": quote}
    dataset = load_dataset(written(tmp_path, question(relevant_spans=[span])), corpus=emoji, utf16_offsets=True)
    (found,) = dataset.ground_truth[0].relevant
    assert (found.start, found.end) == (place, place + len(quote))


@pytest.mark.parametrize("offset", [1, utf16(EMOJI) + 1])
def test_utf_16_offsets_inside_or_behind_the_text_are_refused(tmp_path, emoji, offset):
    path = written(tmp_path, question(relevant_spans=[{"doc_id": "e.md", "start": 0, "end": offset}]))
    with pytest.raises(DatasetError, match=rf"UTF-16 offset {offset} is not a character boundary in 'e.md'"):
        load_dataset(path, corpus=emoji, utf16_offsets=True)


UTF16 = "its text is there in UTF-16 units: load_dataset(..., utf16_offsets=True) reads it"
LF = "its text is there if line ends are LF: convert the document from CRLF"


@pytest.mark.parametrize(
    ("content", "start", "text", "hint"),
    [
        ("\U0001f4e6 Noon. \U0001f9fe One year.", 12, "One year.", UTF16),
        ("\U0001f4e6 Noon. \U0001f9fe One year. One more.", 12, "One year.", UTF16),
        ("One.\r\nTwo.\r\nThree. Four.", 10, "Three.", LF),
        ("One.\r\nTwo.\r\nThree. Four.", 5, "Two.\nThree.", LF),
        ("\U0001f4e6 Noon. \U0001f9fe One year. One more.", 13, "One year.", None),
        ("\U0001f4e6 Noon. \U0001f9fe One year.", 18, "", None),
        ("One.\r\nTwo.\r\nThree. Four.", 11, "Three.", None),
    ],
)
def test_a_label_whose_text_is_where_other_offsets_count_says_which_and_what_to_do(content, start, text, hint):
    corpus = Corpus([Document(DocumentId("e.md"), content)])
    label = CharacterSpan(DocumentId("e.md"), start, start + (len(text) or 9), text)
    dataset = Dataset([TokenLevelGroundTruth(Query.from_text("When?"), [label])], TOKEN)
    with pytest.raises(DatasetError, match=r"e\.md\[") as caught:
        dataset.check(corpus)
    (finding,) = (each for each in lint_dataset(dataset, corpus).findings if each.kind == "text differs")
    for message in (str(caught.value), finding.what):
        assert [known for known in (UTF16, LF) if known in message] == ([hint] if hint else [])


def test_an_emoji_inside_of_a_label_with_utf_16_offsets_says_what_to_do(tmp_path):
    span = {"doc_id": "e.md", "start": 0, "end": 6, "text": "\U0001f600 one"}
    with pytest.raises(DatasetError, match=r"covers 6 characters, but its text has 5.*utf16_offsets=True"):
        load_dataset(written(tmp_path, question(relevant_spans=[span])))


def test_utf_16_offsets_need_the_corpus(tmp_path):
    with pytest.raises(DatasetError, match="corpus="):
        load_dataset(written(tmp_path, question()), utf16_offsets=True)


@pytest.mark.parametrize("given", [0.5, "dataset", (), None])
def test_what_is_no_dataset_is_not_saved(given, tmp_path):
    with pytest.raises(DatasetError, match="expected a Dataset"):
        save_dataset(given, tmp_path / "saved.json")
    assert not [*tmp_path.iterdir()]
