"""The client over a real socket: nothing lost, nothing doubled, whatever goes wrong on the way."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("qdrant_client", reason="qdrant-client is not installed: pip install 'kb-search[qdrant]'")

from bases import Base
from models import Model
from qdrant_client import models

from engines.server import KEY, Fault, Server, serving
from engines.test_contract import QUERIES, TOML, files
from kb.base import KnowledgeBase
from kb.engines import client, fill
from kb.errors import EngineUnusable
from kb.index.embed import embed_missing
from kb.index.embed import view as embed_view

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")  # said by the client's own memory
MakeBase = Callable[..., Base]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running
        assert running.invalid == []


@pytest.fixture
def base(server: Server, make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> Base:
    """A base whose kb.toml names the server; small batches, short pauses."""
    monkeypatch.setenv("KB_QDRANT_KEY", KEY)
    monkeypatch.setattr(fill, "PUT_POINTS", 40)
    monkeypatch.setattr(fill, "DOCUMENTS", 5)
    monkeypatch.setattr(client, "PAUSE", 0.01)
    return make_base(files(), f'{TOML}\n[engine]\nkind = "qdrant"\nurl = "{server.url}"\nprefix = "team"\n')


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a second for an answer, no longer."""
    monkeypatch.setattr(client, "ASK_SECONDS", 1)


def alias(base: Base) -> str:
    return base.kb._open_engine().alias  # type: ignore[union-attr]


def embedded(base: Base) -> KnowledgeBase:
    """The same files under an index without an engine."""
    other = Base(base.place / f"embedded-{random.random()}", None, None)
    path = base.place / "embedded.toml"
    path.write_text(TOML, encoding="utf-8")
    other.path = path
    return other.open()


def right(base: Base, server: Server) -> None:
    """The server holds just what a new index would send, and answers with it."""
    held = server.points(alias(base))
    base.kb.index(rebuild=True)
    fresh = server.points(alias(base))
    numbers = ("hit", "passage")
    assert {i: {k: v for k, v in p.items() if k not in numbers} for i, p in held.items()} == {
        i: {k: v for k, v in p.items() if k not in numbers} for i, p in fresh.items()
    }
    assert len(server.names()) == 1  # nothing is left behind


def test_search_over_a_socket_is_search(base: Base, server: Server) -> None:
    base.kb.index()
    with embedded(base) as other:
        for query in QUERIES:
            assert base.search(query, limit=10, explain=True) == other.search(query, limit=10, explain=True)
    assert server.count("points/query/batch") >= 20
    assert alias(base).startswith("team-kb-")


def test_nothing_is_sent_again_where_nothing_has_changed(base: Base, server: Server) -> None:
    base.kb.index()
    before = server.count("PUT")
    base.kb.index()
    assert server.count("PUT") == before


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/points", status=429, retry_after="0", times=3),
        Fault("/points", status=429, times=3),
        Fault("/points", status=429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT", times=2),
        Fault("/points", status=503, times=3),
        Fault("/points", status=408, times=2),
        Fault("/points", cut=True, times=2, skip=2),
        Fault("/points", cut=True, after=True, times=2, skip=1),
        Fault("/points", status=503, half=True, times=2),
        Fault("PUT /collections", status=503, times=3),
        Fault("PUT /collections", cut=True, after=True),
        Fault("/aliases", status=503, times=2),
        Fault("collections/aliases", cut=True, after=True),
    ],
    ids=lambda fault: (
        f"{fault.where} {fault.status or 'cut'}{' after' if fault.after else ''}{' half' if fault.half else ''}"
        f"{' date' if fault.retry_after and ',' in fault.retry_after else ''}"
    ),
)
def test_a_busy_or_broken_server_costs_nothing_but_time(base: Base, server: Server, fault: Fault) -> None:
    server.faults.append(fault)
    base.kb.index()
    assert fault.times == 0
    right(base, server)


@pytest.mark.parametrize("skip", [0, 1, 3, 5])
def test_a_fill_that_fails_half_way_goes_on_where_it_was(base: Base, server: Server, skip: int) -> None:
    server.faults.append(Fault("/points", status=500, times=1, skip=skip))
    with pytest.raises(EngineUnusable, match="500"):
        base.kb.index()
    assert base.search("boundary").warning is not None  # answered by the local index, and said so
    before = server.count("PUT")
    base.kb.index()
    sent, before = server.count("PUT") - before, server.count("PUT")
    assert base.search("boundary").warning is None
    right(base, server)
    assert sent < server.count("PUT") - before or skip == 0


RUN = """
import sys
from kb.base import KnowledgeBase
from kb.engines import fill
fill.PUT_POINTS, fill.DOCUMENTS = 40, 5
KnowledgeBase(sys.argv[1], cache=sys.argv[2]).index()
"""


@pytest.mark.slow
@pytest.mark.parametrize("request_", [3, 7, 12, 15, 18, 21, 24, 25])  # of 25: making, filling, the name
def test_a_run_that_is_killed_at_any_request_leaves_nothing_lost_doubled_or_behind(
    base: Base, server: Server, request_: int
) -> None:
    base.write("docs/more.md", "# More\n\nboundary\n")
    running: list[subprocess.Popen[bytes]] = []

    def kill(what: str) -> None:
        if len(server.asked) == request_:
            running[0].kill()

    server.watch = kill
    running.append(subprocess.Popen([sys.executable, "-c", RUN, str(base.path), str(base.cache)]))
    assert running[0].wait() == -signal.SIGKILL
    server.watch = None
    base.kb.index()
    with embedded(base) as plain:
        assert base.search("boundary", limit=10) == plain.search("boundary", limit=10)
    right(base, server)


def test_the_name_never_stands_for_half_a_collection(base: Base, server: Server) -> None:
    base.kb.index()
    whole = len(server.points(alias(base)))
    seen: list[int] = []

    def look(what: str) -> None:
        if "/points" in what or "aliases" in what:
            seen.append(len(server.points(alias(base))))

    base.write("docs/more.md", "# More\n\n" + "boundary\n\n## Next\n\ncontext\n")
    server.watch = look
    base.kb.index(rebuild=True)
    server.watch = None
    assert len(seen) > 5
    assert set(seen) <= {whole, len(server.points(alias(base)))}


def test_a_rebuild_that_fails_leaves_the_old_points_and_a_right_answer(base: Base, server: Server) -> None:
    base.kb.index()
    held = server.points(alias(base))
    server.faults.append(Fault("/points", status=500, skip=2))
    with pytest.raises(EngineUnusable):
        base.kb.index(rebuild=True)
    assert server.points(alias(base)) == held
    answer = base.search("boundary", limit=10)
    with embedded(base) as other:
        assert answer.results == other.search("boundary", limit=10).results
    assert "run: kb index" in (answer.warning or "")


def test_a_wrong_key_is_named(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    base.kb.index()
    monkeypatch.setenv("KB_QDRANT_KEY", "another")
    with base.open() as other, pytest.raises(EngineUnusable, match="refused the key; set KB_QDRANT_KEY"):
        other.search("boundary")


def test_a_server_that_is_not_there_is_named(base: Base, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    base.kb.index()
    server.faults.append(Fault("query/batch", cut=True, times=9))
    with pytest.raises(EngineUnusable, match="can't be reached"):
        base.search("boundary")


@pytest.mark.usefixtures("impatient")
def test_a_slow_answer_is_not_waited_for(base: Base, server: Server) -> None:
    base.kb.index()
    server.faults.append(Fault("query/batch", slow=3.0, times=2))
    with pytest.raises(EngineUnusable, match="did not answer in time"):
        base.search("boundary")


@pytest.mark.usefixtures("impatient")
def test_one_slow_answer_is_asked_for_again(base: Base, server: Server) -> None:
    base.kb.index()
    server.faults.append(Fault("query/batch", slow=2.0))
    assert base.search("boundary").results


@pytest.mark.usefixtures("impatient")
def test_status_does_not_wait_for_a_server_that_hangs(base: Base, server: Server) -> None:
    base.kb.index()
    server.faults.append(Fault("GET /", slow=3.0, times=4))
    assert "did not answer in time" in base.kb.status().extra["engine"]["error"]


def test_a_search_waits_no_longer_than_it_may_whatever_a_server_asks_for(
    base: Base, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.kb.index()
    pauses: list[float] = []
    monkeypatch.setattr(client.time, "sleep", pauses.append)
    server.faults.append(Fault("query/batch", status=429, retry_after="3600"))
    assert base.search("boundary").results
    assert pauses == [client.ASK_SECONDS]


def test_a_server_whose_own_time_runs_out_is_named(base: Base, server: Server) -> None:
    base.kb.index()
    server.faults.append(Fault("query/batch", status=408, times=2))
    with pytest.raises(EngineUnusable, match="did not answer in time"):
        base.search("boundary")


def test_a_name_made_to_stand_for_something_else_is_set_right_by_the_next_index_run(base: Base, server: Server) -> None:
    base.kb.index()
    held = server.points(alias(base))
    other = models.CreateAlias(collection_name="other", alias_name=alias(base))
    server.memory.create_collection("other", vectors_config={})
    server.memory.update_collection_aliases([models.CreateAliasOperation(create_alias=other)])
    assert server.points(alias(base)) == {}
    with embedded(base) as plain:
        assert base.search("boundary", limit=10) == plain.search("boundary", limit=10)  # the name is for other programs
    base.kb.index()
    assert server.points(alias(base)) == held
    assert "other" in server.names()  # what is not ours stays


def test_a_collection_that_has_the_name_already_is_an_error_that_says_so(base: Base, server: Server) -> None:
    server.memory.create_collection(alias(base), vectors_config={})
    with pytest.raises(EngineUnusable, match="already exists"):
        base.kb.index()
    assert server.points(alias(base)) == {}
    server.memory.delete_collection(alias(base))
    base.kb.index()
    right(base, server)


def test_a_collection_made_anew_with_another_dimension_is_named_and_can_be_replaced(base: Base, server: Server) -> None:
    model = Model()

    def embed() -> None:
        view = base.kb._catalog(), model.id, model.dimension, base.kb._read_raw()
        embed_missing(view[0], model, embed_view(*view), view[3])

    base.search("boundary")
    embed()
    base.kb.index()
    (name,) = server.names()
    server.memory.delete_collection(name)
    dense = models.VectorParams(size=7, distance=models.Distance.COSINE)
    sparse = {key: models.SparseVectorParams() for key in ("bm25", "names")}
    server.memory.create_collection(name, vectors_config={"dense": dense}, sparse_vectors_config=sparse)
    base.write("docs/new.md", "# New\n\nzebra context\n")
    base.kb._update(base.kb._catalog(), None)
    embed()
    with pytest.raises(EngineUnusable, match=r"holds vectors of another dimension .*; run: kb index --rebuild") as error:
        base.kb.index()
    assert "\n" not in str(error.value)
    base.kb.index(rebuild=True)
    assert base.search("zebra").warning is None
    assert name not in server.names()


def test_points_that_somebody_has_taken_out_are_missed_and_all_are_written_again(base: Base, server: Server) -> None:
    base.kb.index()
    everything = models.FilterSelector(filter=models.Filter())
    held = server.points(alias(base))
    server.memory.delete(alias(base), everything)
    assert base.kb.status().extra["engine"]["missing"] == len(held)
    with embedded(base) as plain:
        answer = base.search("boundary", limit=10)
        assert answer.results == plain.search("boundary", limit=10).results
    assert answer.warning == "Qdrant lacks points of this base: answered from the local index; run: kb index"
    base.kb.index()
    assert base.search("boundary").warning is None
    assert len(server.points(alias(base))) == len(held)
    right(base, server)


def test_a_server_too_old_is_named(base: Base, server: Server) -> None:
    server.version = "1.9.7"
    with pytest.raises(EngineUnusable, match=r"version 1\.9\.7, too old"):
        base.kb.index()


def test_points_that_somebody_has_removed_are_missed_and_made_again(base: Base, server: Server) -> None:
    base.kb.index()
    for name in server.names():
        server.memory.delete_collection(name)
    answer = base.search("boundary", limit=10)
    assert answer.results
    assert answer.warning == "Qdrant does not hold this base any more: answered from the local index; run: kb index"
    base.kb.index()
    assert base.search("boundary").warning is None


def test_a_moved_cache_starts_anew_and_does_not_touch_what_others_hold(base: Base, server: Server, tmp_path: Path) -> None:
    base.kb.index()
    held = server.names()
    with base.open(tmp_path / "elsewhere") as other:
        other.index()
        assert other.search("boundary").warning is None
    assert held < server.names()
    assert base.search("boundary").warning is None
