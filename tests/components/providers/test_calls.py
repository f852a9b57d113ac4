"""Calls of a provider, with its real SDK: what is tried again, after how long, and what is raised in the end."""

import os
import signal
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Event, Thread, get_ident

import pytest
from openai import OpenAI

from rag_evaluation_framework import OpenAIEmbedder
from rag_evaluation_framework.base import interrupts
from rag_evaluation_framework.base.coroutines import Awaited
from rag_evaluation_framework.components.providers import track_usage
from rag_evaluation_framework.components.providers.calls import OPENAI, Consumed, Prices, ProviderCalls, SameAgain
from rag_evaluation_framework.errors import ConfigError, InvalidAnswer, ProviderRefused, ProviderUnavailable
from support.provider_clients import client_of

ADDRESS = "http://127.0.0.1:9/v1"
ROUTE = "POST /v1/embeddings"


def read(answer):
    if len(answer.data) != 2:
        raise ValueError("not two vectors")
    return len(answer.data)


def consumed(answer):
    return Consumed(answer.usage.prompt_tokens)


def asking(max_retries=5, sdk=None, timeout=10.0, prices=None):
    """Return what calls OpenAI, and returns how many vectors came."""
    calls = ProviderCalls(OPENAI, "m", ADDRESS, max_retries, prices or Prices())
    sdk = sdk or OpenAI(max_retries=0, timeout=timeout)
    return lambda: calls.call(lambda: sdk.embeddings.create(model="m", input=["a", "b"]), read, consumed)


ASKED_TO_WAIT = 110  # seconds: whatever ended before did not wait


def seconds(call):
    begin = time.monotonic()
    assert call() == 2
    return time.monotonic() - begin


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_a_call_returns_what_was_read_and_is_counted_whether_it_is_awaitable_or_not(providers, kind):
    with client_of(kind, providers.url) as client, track_usage() as usage:
        assert asking(sdk=client, prices=Prices(2.0))() == 2
    assert (usage.total.requests, usage.total.retries, usage.total.input_tokens) == (1, 0, 2)
    assert usage.total.cost == pytest.approx(4e-6)
    assert providers.counts() == {ROUTE: 1}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529, 599])
def test_a_status_that_may_pass_is_tried_again(providers, waits, status):
    providers.fault(ROUTE, status=status, times=3)
    with track_usage() as usage:
        assert asking(3)() == 2
    assert (usage.total.requests, usage.total.retries, len(waits)) == (4, 3, 3)


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        *((status, {"message": "no"}, f"status {status}: no") for status in (400, 401, 403, 404, 413, 422)),
        (
            429,
            {"message": "see your plan", "code": "insufficient_quota"},
            "status 429: see your plan; the quota is used up$",
        ),
    ],
)
def test_a_refusal_is_not_tried_again_and_a_quota_that_is_used_up_not_waited_for(providers, waits, status, body, says):
    providers.fault(ROUTE, status=status, body={"error": {**body, "type": body.get("code")}}, times=None)
    with pytest.raises(ProviderRefused, match=says) as refused:
        asking()()
    assert (refused.value.provider, refused.value.status, refused.value.attempts) == ("OpenAI", status, 1)
    assert (providers.counts(), waits) == ({ROUTE: 1}, [])


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            401,
            r"OpenAI \(m\) answered with status 401: it says so; check the key in OPENAI_API_KEY, which is sent to .*",
        ),
        (404, r"it says so; check the name of the model and the address \(OPENAI_BASE_URL\)"),
        (429, r"status 429: it says so; ask for less at once"),
        (503, r"OpenAI \(m\) answered with status 503: it says so"),
    ],
)
@pytest.mark.parametrize(
    "body", [{"error": {"message": "it\nsays so"}}, {"message": "it says so"}, {"error": "it says so"}]
)
def test_the_error_says_what_the_provider_said_and_what_helps(providers, waits, status, says, body):
    providers.fault(ROUTE, status=status, body=body, times=None)
    with pytest.raises((ProviderRefused, ProviderUnavailable), match=f"{says}$") as failed:
        asking(1)()
    assert "\n" not in str(failed.value)
    assert failed.value.attempts == (2 if status in (429, 503) else 1)


@pytest.mark.parametrize("retries", [0, 4])
def test_who_is_not_available_to_the_end_is_told_with_the_number_of_attempts(providers, waits, retries):
    providers.fault(ROUTE, status=503, times=None)
    with pytest.raises(ProviderUnavailable) as failed:
        asking(retries)()
    assert (failed.value.status, failed.value.attempts, providers.counts()[ROUTE]) == (503, retries + 1, retries + 1)
    assert len(waits) == retries


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 6.99, 7.7),
        ({"Retry-After": "0.5"}, 0.49, 0.55),
        ({"retry-after-ms": "250"}, 0.24, 0.275),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.24, 0.275),
        ({"retry-after-ms": "soon", "Retry-After": "7"}, 6.99, 7.7),
        ({"Retry-After": "120"}, 119.99, 132),
        *(({"Retry-After": asked}, 0, 0.1) for asked in ("0", "-3", "nan")),  # it may come at once
        # What says no time is as if it were not there.
        *(({"Retry-After": asked}, 0, 1) for asked in ("", "soon")),
        *(({"Retry-After": f"Sun, {day} 08:49:37 GMT"}, 0, 1) for day in ("99 Nov 2026", "06 Nov 99999999999")),
    ],
)
def test_a_retry_waits_as_long_as_it_is_asked_to(providers, waits, headers, least, most):
    providers.fault(ROUTE, status=429 if most != 1 else 503, headers=headers)
    assert asking()() == 2
    (wait,) = waits
    assert least <= wait <= most


def test_a_date_says_until_when_to_wait(providers, waits):
    until = datetime.now(UTC) + timedelta(seconds=60)
    for date in (format_datetime(until, usegmt=True), format_datetime(until)):
        providers.fault(ROUTE, status=503, headers={"Retry-After": date})
        assert asking()() == 2
    assert len(waits) == 2
    assert all(55 < wait < 67 for wait in waits)


@pytest.mark.parametrize(
    "asked",
    ["121", "1e9", "inf", format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)],
    ids=["seconds", "an exponent", "infinity", "a date"],
)
def test_who_asks_to_wait_for_long_is_not_waited_for_and_the_next_call_tried_as_often_as_any(providers, waits, asked):
    providers.fault(ROUTE, status=503, headers={"Retry-After": asked}, times=None)
    call = asking(2)
    with pytest.raises(ProviderUnavailable, match=r"status 503: .*; it asks to wait (\d+|inf) seconds$") as failed:
        call()
    assert (failed.value.attempts, providers.counts()[ROUTE], waits) == (1, 1, [])
    providers.clear_faults()
    providers.fault(ROUTE, status=503, times=2)
    assert call() == 2


def test_else_a_retry_waits_a_random_time_below_a_bound_that_doubles(providers, waits):
    providers.fault(ROUTE, status=500, times=None)
    for _ in range(15):
        with pytest.raises(ProviderUnavailable):
            asking(8)()
    bounds = [1, 2, 4, 8, 16, 30, 30, 30]
    for attempt, bound in enumerate(bounds):
        times = waits[attempt::8]
        assert len(times) == 15
        assert all(0 <= wait <= bound for wait in times)
        assert max(times) > bound / 3  # (1/3) ** 15 is never
        assert len(set(times)) > 10


def test_a_busy_provider_is_not_asked_by_other_calls_before_it_is_free(providers, waits):
    providers.fault(ROUTE, status=429, headers={"Retry-After": "100"})
    call = asking()
    assert (call(), call()) == (2, 2)
    assert [exchange.status for exchange in providers.exchanges] == [429, 200, 200]
    assert len(waits) == 2  # each before it asked
    assert all(0 < wait <= 110 for wait in waits)


def test_a_busy_provider_is_up(providers, waits):
    call = asking(2)
    providers.fault(ROUTE, status=429, times=3)
    with pytest.raises(ProviderUnavailable):
        call()
    assert all(2 <= wait <= 8 for wait in waits)
    providers.fault(ROUTE, status=429, times=2)
    assert call() == 2


def test_an_answer_that_would_be_the_same_again_is_not_asked_for_again(providers, waits):
    def read(_):
        raise SameAgain("cut off")

    sdk = OpenAI(max_retries=0)
    calls = ProviderCalls(OPENAI, "m", ADDRESS, 5)
    with pytest.raises(InvalidAnswer, match="cut off"):
        calls.call(lambda: sdk.embeddings.create(model="m", input=["a"]), read, consumed)
    assert (providers.counts(), waits) == ({ROUTE: 1}, [])


def test_the_time_is_waited(providers):
    providers.fault(ROUTE, status=429, headers={"retry-after-ms": "400"})
    assert seconds(asking()) >= 0.4


def test_a_provider_that_is_down_is_asked_once_per_call_until_it_answers(providers, waits):
    call = asking(3)
    providers.fault(ROUTE, status=503, times=None)
    for expected in (4, 5, 6):
        with pytest.raises(ProviderUnavailable):
            call()
        assert providers.counts()[ROUTE] == expected
    providers.clear_faults()
    assert call() == 2
    providers.fault(ROUTE, status=503, times=3)
    assert call() == 2
    assert providers.counts()[ROUTE] == 7 + 4


@pytest.mark.parametrize("answered", [{"status": 400}, {"body": {"data": []}}])
def test_a_provider_that_refuses_or_answers_nonsense_is_up(providers, waits, answered):
    call = asking(2)
    providers.fault(ROUTE, status=503, times=3)
    with pytest.raises(ProviderUnavailable):
        call()
    providers.fault(ROUTE, **answered)
    with pytest.raises((ProviderRefused, InvalidAnswer)):
        call()
    providers.fault(ROUTE, status=503, times=2)
    assert call() == 2


def test_a_lost_connection_and_a_timeout_are_tried_again_and_told_by_their_cause(providers, waits):
    providers.fault(ROUTE, drop=True)
    providers.fault(ROUTE, delay=60.0)
    assert asking(2, timeout=2.0)() == 2
    providers.fault(ROUTE, drop=True, times=None)
    told = rf"^OpenAI \(m\) cannot be reached at {ADDRESS} \(OPENAI_BASE_URL\): \w+: .*$"
    with pytest.raises(ProviderUnavailable, match=told) as failed:
        asking(1)()
    assert (failed.value.status, failed.value.attempts) == (None, 2)
    assert failed.value.__cause__ is not None


@pytest.mark.parametrize(
    "answer",
    [
        {"body": b"{not json"},
        {"body": "<html></html>", "headers": {"Content-Type": "text/html"}},
        {"body": {}},
        {"body": [1]},
        {"body": {"data": [], "usage": {"prompt_tokens": 1}}},
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again_and_told(providers, waits, answer):
    providers.fault(ROUTE, times=2, **answer)
    with track_usage() as usage:
        assert asking(2)() == 2
    assert (usage.total.requests, usage.total.retries) == (3, 2)
    providers.fault(ROUTE, times=None, **answer)
    with pytest.raises(InvalidAnswer, match=r"^OpenAI \(m\) answered what cannot be (read|used): .*$"):
        asking(1)()


def test_what_our_own_code_raises_before_anything_is_sent_stays_as_it_is(waits):
    def send():
        raise ConfigError("no key")

    with track_usage() as usage, pytest.raises(ConfigError, match=r"^no key$"):
        ProviderCalls(OPENAI, "m", ADDRESS, 5).call(send, read, consumed)
    assert (usage.total.requests, waits) == (0, [])


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("at_once", [1, 4])
def test_ctrl_c_ends_the_waiting(providers, at_once):
    providers.fault(ROUTE, status=429, headers={"Retry-After": str(ASKED_TO_WAIT)}, times=None)
    embedder = OpenAIEmbedder(batch_size=1, max_concurrency=at_once)

    def press():
        while not providers.exchanges:  # who comes late does not ask one that is busy
            time.sleep(0.01)
        time.sleep(0.1)
        signal.pthread_kill(get_ident(), signal.SIGINT)  # the kernel may choose any thread

    begin = time.monotonic()
    Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        embedder.embed(["a", "b", "c", "d", "e", "f"])
    assert time.monotonic() - begin < ASKED_TO_WAIT
    assert providers.counts()[ROUTE] <= at_once


def test_cancelled_work_waits_no_longer(providers):
    providers.fault(ROUTE, status=429, headers={"Retry-After": str(ASKED_TO_WAIT)}, times=None)
    awaited, began = Awaited(), Event()

    def work():
        with awaited.here():
            began.set()
            return asking()()

    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(work)
        assert began.wait()
        while not providers.exchanges:
            time.sleep(0.01)
        begin = time.monotonic()
        awaited.cancel()
        with pytest.raises(CancelledError):
            future.result()
    assert time.monotonic() - begin < ASKED_TO_WAIT


def test_a_program_that_was_interrupted_waits_no_longer(providers, monkeypatch):
    providers.fault(ROUTE, status=429, headers={"Retry-After": "60"})
    monkeypatch.setattr(interrupts._Memory, "first", interrupts.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        asking()()


@pytest.mark.parametrize(
    ("prices", "used", "cost"),
    [
        (Prices(), Consumed(5, 5, 5), None),
        (Prices(2.0), Consumed(1_000_000), 2.0),
        (Prices(2.0, 8.0), Consumed(1_000_000, 500_000), 6.0),
        (Prices(2.0), Consumed(1, 1), None),
        (Prices(price_search=2.0), Consumed(searches=500), 1.0),
        (Prices(0.0), Consumed(9), 0.0),
        (Prices(price_out=1.0), Consumed(0, 0), 0.0),
    ],
)
def test_a_cost_is_known_where_the_prices_of_all_that_was_used_are(prices, used, cost):
    assert prices.cost(used) == cost
