"""What `scripts/bench` measures. Every part adds to one dictionary of results, which `bench_report` turns into tables."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_data as data
import bench_engines as engines
import bench_whole
import numpy as np
from bench_timing import in_turn, spread

from kb.ranking import bm25

PARTS = ("lexical", "search", "index", "start", "floor")
_FEW = {"rank_bm25": 10, "SQLite FTS5": 20}
"""Queries that slow engines are asked."""
REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = REPOSITORY.parent / "shared" / "data"


def build(engine: str, tokens: str, target: str) -> dict[str, float]:
    """Build one engine's index in this process; return seconds, CPU seconds, peak memory (MB) and size on disk (MB)."""
    found = next(one for one in engines.ENGINES if one.name == engine)
    folder = Path(target)
    run = found.build(engines.Tokens(Path(tokens)), folder)
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {
        "wall": wall,
        "cpu": cpu,
        "peak": peak(),
        "disk": size / 1e6,
    }


def _numbered(ask: Callable[[Any], Any], queries: list[Any]) -> Callable[[int], Any]:
    return lambda number: ask(queries[number])


def peak() -> float:
    """Return the most memory this process has held, in MB; what its parent held before is not in it."""
    for line in Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else ():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compare(folder: Path, size: int) -> dict[str, Any]:
    """Build and load the engines for the tokens in a folder, and ask them; return what that took."""
    tokens = engines.Tokens(folder)
    out: dict[str, Any] = {"passages": size, "tokens": len(tokens.terms), "engines": {}}
    asks: dict[str, Callable[[Any], Any]] = {}
    chosen = [one for one in engines.ENGINES if size <= one.most]
    for engine in chosen:
        target = folder / engines.SHARED_INDEX.get(engine.name, engine.name)
        found = out["engines"][engine.name] = _built(engine.name, folder, target)
        started = time.perf_counter()
        opened = engine.load(target)
        found["load"] = time.perf_counter() - started
        asks[engine.name] = engine.ask(opened)
        found["agree"] = 0.0
    for kind, queries in tokens.queries().items():
        asked = {one.name: [one.prepare(tokens, query) for query in queries] for one in chosen}
        _agree(asks, asked, out["engines"])
        counts = {one.name: min(_FEW.get(one.name, len(queries)), len(queries)) for one in chosen}
        found = in_turn({n: _numbered(asks[n], asked[n]) for n in asks}, counts)
        for engine_name, one in found.items():
            out["engines"][engine_name][kind] = one
    return out


def _apart(*arguments: object) -> dict[str, Any]:
    """Return what `scripts/bench` finds with these arguments in a process of its own."""
    command = [sys.executable, str(REPOSITORY / "scripts" / "bench"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _built(engine: str, folder: Path, target: Path) -> dict[str, Any]:
    known = folder / f"{engine}.built.json"
    if engine in engines.SHARED_INDEX:
        return dict(json.loads((folder / f"{engines.SHARED_INDEX[engine]}.built.json").read_text()))
    if not known.exists():
        shutil.rmtree(target, ignore_errors=True)
        known.write_text(json.dumps(_apart("--build", engine, folder, target)))
    return dict(json.loads(known.read_text()))


def _agree(asks: dict[str, Any], asked: dict[str, list[Any]], found: dict[str, Any]) -> None:
    """Note how far scores are from bm25s's: both are meant to be the same formula."""
    for query in range(min(20, len(asked["kb"]))):
        ours = [score for _, score in asks["kb"](asked["kb"][query])]
        other = [score for _, score in asks["bm25s-numba"](asked["bm25s-numba"][query]) if score > 0]
        count = min(len(ours), len(other))
        off = float(np.abs(np.array(ours[:count]) - np.array(other[:count])).max()) if count else 0.0
        found["kb"]["agree"] = max(found["kb"]["agree"], off)


class Bench:
    """A run: where text and work lie, which sizes, and what has been found."""

    def __init__(self, text: Path, work: Path, sizes: dict[str, int], queries: int) -> None:
        self.text, self.work, self.sizes, self.queries = text, work, sizes, queries
        self.results: dict[str, Any] = {"machine": machine()}

    def run(self, part: str) -> None:
        """Measure one part."""
        getattr(self, part)()

    def lexical(self) -> None:
        """Build, load and query every engine at every size."""
        for name, size in self.sizes.items():
            folder = self.work / name
            if not (folder / "texts.json").exists():
                for built in folder.glob("*.built.json"):  # of other tokens
                    built.unlink()
                data.prepare(self.text, size, self.queries, folder)
            # A process for each size: what an engine leaves behind in memory slows down the others.
            self.results.setdefault("lexical", {})[name] = _apart("--compare", folder, size)

    def search(self) -> None:
        """The whole search of KnowledgeBase on 100,000 sections, before and after edits, and what it is compared with."""
        self.results["search"] = bench_whole.measure(self.text, self.work, self.tokens())

    def tokens(self) -> engines.Tokens:
        """Return the tokens of 100,000 passages."""
        folder = self.work / "100k"
        if not (folder / "texts.json").exists():
            data.prepare(self.text, 100_000, self.queries, folder)
        return engines.Tokens(folder)

    def index(self) -> None:
        """Index a folder, against a plain loop that only tokenises and stems the same text; edits and case of 200 MB."""
        folder = self.work / "docs-10k"
        if not folder.exists():
            data.write_folder(data.read(self.text), 10_000, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*.md"))
        ours = child(f"from kb.base import KnowledgeBase; KnowledgeBase({str(folder)!r}).index(rebuild=True)")
        plain = child(PLAIN.format(folder=str(folder)))
        out: dict[str, Any] = {"MB": size / 1e6, "kb": ours, "plain": plain}
        large = self.work / "docs-200mb"
        if not large.exists():
            data.write_folder(data.read(self.text), 100_000, large, a_file=100, passages_each=3)
        size = sum(path.stat().st_size for path in large.rglob("*.md"))
        shutil.rmtree(self.work / "cache-200mb", ignore_errors=True)
        code = (
            f"from kb.base import KnowledgeBase; KnowledgeBase({str(large)!r}, cache={str(self.work / 'cache-200mb')!r}).index()"
        )
        out["large"] = {"MB": size / 1e6, "sections": 100_000, **child(code)}
        self.results["index"] = out

    def start(self) -> None:
        """What the command costs from its start, and opening a million passages."""
        folders = (self.text / "fpf" / "docs", SHARED / "fpf" / "docs", self.text)
        base = next(path for path in folders if path.is_dir() and any(path.rglob("*.md")))
        copy = self.work / "start"
        if not copy.exists():
            shutil.copytree(base, copy)
        search = [sys.executable, "-m", "kb", "search", "boundary of a holon", "--base", str(copy)]
        command(search)
        time.sleep(2.5)
        command([*search[:3], "index", "--base", str(copy)])
        edited = sorted(copy.rglob("*.md"))[0]

        def edit(number: int) -> None:
            edited.write_text(edited.read_text(encoding="utf-8") + f"\nword{number}\n", encoding="utf-8")

        runs: dict[str, list[float]] = {"python -c 'import numpy'": [], "kb search": [], "kb search after an edit": []}
        for number in range(15):
            runs["python -c 'import numpy'"].append(command([sys.executable, "-c", "import numpy"]))
            runs["kb search"].append(command(search))
            edit(number)
            runs["kb search after an edit"].append(command(search))
            time.sleep(2.2)  # or the next one would look into a file that has only just been written
            command(search)
        out: dict[str, Any] = {"runs": {name: spread(times) for name, times in runs.items()}}
        largest = max(self.sizes, key=lambda name: self.sizes[name])
        folder = self.work / largest
        if (folder / "kb").exists():
            tokens = engines.Tokens(folder)
            query = engines.Kb().prepare(tokens, tokens.queries()["sentences"][0])
            done = subprocess.run(
                [sys.executable, "-c", OPEN.format(path=str(folder / "kb"), scripts=str(REPOSITORY / "scripts"), query=query)],
                capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            )  # fmt: skip
            out["open"] = {"passages": self.sizes[largest], **json.loads(done.stdout)}
        self.results["start"] = out

    def floor(self) -> None:
        """The least time in which all that queries ask for can be read: the format's own bytes, at measured bandwidth."""
        largest = max(self.sizes, key=lambda name: self.sizes[name])
        folder = self.work / largest
        tokens = engines.Tokens(folder)
        snapshot = engines.Kb().load(folder / "kb")
        block = np.ones(64 << 20, dtype=np.float32)
        best = min(timed(lambda: block.sum()) for _ in range(7))
        bandwidth = block.nbytes / best
        out: dict[str, Any] = {"size": largest, "bandwidth": bandwidth / 1e9}
        for kind, queries in tokens.queries().items():
            touched = [bytes_of(snapshot, engines.Kb().prepare(tokens, query)) for query in queries]
            out[kind] = {"bytes": float(np.mean(touched)), "ms": float(np.mean(touched)) / bandwidth * 1e3}
        self.results["floor"] = out


def bytes_of(snapshot: Any, terms: list[tuple[str, float]]) -> int:
    """Return the bytes of all postings of a query (unit and count), and of the score of every unit once."""
    weighted = bm25.weigh(snapshot, "text", terms)
    return sum(5 * term.frequency for term in weighted) + 4 * snapshot.text.units


PLAIN = """
import re
from pathlib import Path
import Stemmer
stem = Stemmer.Stemmer('english').stemWord
word = re.compile(r'\\w+')
for path in Path({folder!r}).rglob('*.md'):
    for found in word.findall(path.read_text(encoding='utf-8').lower()):
        stem(found)
"""
"""A loop that does nothing but find words and stem each of them."""

PEAKS = "import json, resource, bench_measure as m; print(json.dumps([m.peak(), resource.getrusage(-1).ru_maxrss / 1024]))"

OPEN = """
import json, sys, time
def private():
    lines = open('/proc/self/smaps_rollup').read().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith('Private')) / 1024
start = time.process_time(); import numpy; numpy_ms = (time.process_time() - start) * 1e3
sys.path.insert(0, {scripts!r})
from pathlib import Path
import kb.base, kb.ranking.search
from kb.index.catalog import Catalog
from kb.index.snapshot import load
from kb.ranking import bm25, maxscore
before = private()
start = time.process_time()
catalog = Catalog.open(Path({path!r}))
with catalog.reading():
    snapshot = load(catalog)
weighted = bm25.weigh(snapshot, 'text', {query!r})
for segment in snapshot.segments:
    maxscore.best_units(segment, 'text', weighted, snapshot.text.mean, bm25.Parameters(1.2, 0.75), 10)
print(json.dumps({{'numpy': numpy_ms, 'open': (time.process_time() - start) * 1e3, 'private': private(), 'before': before}}))
"""


def child(code: str) -> dict[str, float]:
    """Run code in a process of its own; return seconds, CPU seconds of it and its children, and peak memory of the largest."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    script = f"import sys; sys.path.insert(0, {str(REPOSITORY / 'scripts')!r})\n{code}\n{PEAKS}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own, workers = json.loads(done.stdout.strip().splitlines()[-1])
    return {"wall": wall, "cpu": cpu, "peak": own, "worker peak": workers}


def command(arguments: list[str]) -> float:
    """Run a command; return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds a function takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    import platform

    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    versions = {}
    for name in ("numpy", "bm25s", "numba", "tantivy", "rank-bm25"):
        from importlib.metadata import PackageNotFoundError, version

        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    versions["SQLite"] = sqlite3.sqlite_version
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions,
        "load": os.getloadavg()[0],
    }
