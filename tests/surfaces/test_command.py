"""The command `kb` as people and scripts run it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from bases import Base, folder_hash

from kb.index.catalog import Catalog

MakeBase = Callable[..., Base]
FILES = {
    "trust.md": "---\ntype: pattern\nstatus: stable\n---\n"
    "# B.3 - Trust Calculus\n\nHow trust adds up.\n\n## B.3.1 - Gauge\n\nA gauge.\n",
    "ru/trust.md": "---\nlang: ru\ntype: pattern\n---\n# B.3 - Исчисление доверия\n\nи текст о доверии\n",
    "notes.md": "# Notes\n\nA note on trust and ёлка.\n",
}
SEARCH_KEYS = ["query", "mode", "results", "total", "warning"]
RESULT_KEYS = ["id", "title", "score", "snippet", "path"]
SECTION_KEYS = (
    "id title path body parent children siblings word_count language languages collection type status source lines".split()
)


class Run:
    """What a run of the command left: exit code, output, errors."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8")
        self.err = done.stderr.decode("utf-8")
        assert "Traceback" not in self.err

    @property
    def json(self):  # type: ignore[no-untyped-def]
        return json.loads(self.out)


Kb = Callable[..., Run]


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    def run(*arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> Run:
        held = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
        held["KB_CACHE"] = str(tmp_path / "kb-cache")
        held["PYTHONWARNINGS"] = "error"
        done = subprocess.run(
            [sys.executable, "-m", "kb", *arguments],
            capture_output=True,
            cwd=cwd or tmp_path,
            env={**held, **(env or {})},
            input=stdin,
            timeout=120,
            check=False,
        )
        return Run(done)

    return run


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    return make_base(FILES)


# -- answers and exit codes --------------------------------------------------------------------------------------


def test_a_search_prints_the_promised_keys_in_order(kb: Kb, base: Base) -> None:
    run = kb("search", "trust", "--json", "--base", str(base.root))
    assert (run.code, run.err) == (0, "")
    assert list(run.json)[:5] == SEARCH_KEYS
    assert run.json["mode"] == "keyword"
    assert run.json["warning"] is None
    assert run.json["total"] == len(run.json["results"]) == 3
    for result in run.json["results"]:
        assert list(result)[:5] == RESULT_KEYS
    assert {"collection", "type", "language", "languages", "source", "passage", "highlights"} <= set(run.json["results"][0])


def test_the_command_answers_what_the_library_answers(kb: Kb, base: Base) -> None:
    for query in ("trust", "доверие", "ёлка", "B.3", '"trust adds"', "trust -note"):
        run = kb("search", query, "--json", "--limit", "50", "--base", str(base.root))
        assert {key: run.json[key] for key in SEARCH_KEYS} == base.search(query, limit=50).as_json()


def test_the_base_stands_before_or_after_the_command(kb: Kb, base: Base) -> None:
    before = kb("--base", str(base.root), "--json", "search", "trust")
    after = kb("search", "trust", "--json", "--base", str(base.root))
    named = kb("search", "trust", "--json", env={"KB_BASE": str(base.root)})
    assert before.code == after.code == named.code == 0
    assert before.out == after.out == named.out


def test_an_option_comes_before_the_environment(kb: Kb, base: Base, make_base: MakeBase) -> None:
    other = make_base({"x.md": "# X\n\ntrust elsewhere\n"})
    run = kb("search", "trust", "--json", "--base", str(base.root), env={"KB_BASE": str(other.root)})
    assert "x" not in [r["id"] for r in run.json["results"]]


def test_nothing_found_is_an_empty_list_and_exit_1(kb: Kb, base: Base) -> None:
    run = kb("search", "qwzx plorf", "--json", "--base", str(base.root))
    assert (run.code, run.json["results"], run.json["total"]) == (1, [], 0)
    run = kb("search", "qwzx plorf", "--base", str(base.root))
    assert (run.code, run.out) == (1, "nothing found\n")


def test_an_empty_folder_answers_with_exit_1_and_no_traceback(kb: Kb, make_base: MakeBase) -> None:
    empty = str(make_base().root)
    assert kb("search", "x", "--base", empty).code == 1
    assert kb("list", "--base", empty).code == 1
    assert kb("tree", "--base", empty).out == "empty\n"
    assert kb("index", "--base", empty).code == 0
    assert kb("status", "--base", empty).code == 0


def test_a_section_prints_the_promised_keys(kb: Kb, base: Base) -> None:
    run = kb("section", "B.3", "--json", "--base", str(base.root))
    assert (run.code, run.err) == (0, "")
    assert list(run.json)[:15] == SECTION_KEYS
    assert kb("section", "trust.md", "--json", "--base", str(base.root)).json["id"] == "B.3"
    assert kb("section", "B.3", "--language", "ru", "--json", "--base", str(base.root)).json["title"] == "Исчисление доверия"


def test_an_unknown_section_is_an_error_with_suggestions_and_exit_1(kb: Kb, base: Base) -> None:
    run = kb("section", "B.99", "--json", "--base", str(base.root))
    assert run.code == 1
    assert list(run.json) == ["error", "suggestions"]
    assert run.json["error"] == "section not found: B.99"
    assert "B.3" in run.json["suggestions"]
    assert run.err.startswith("kb: section not found: B.99")
    assert run.err.count("\n") == 1


def test_raw_lines_are_printed_as_they_stand(kb: Kb, base: Base) -> None:
    run = kb("section", "B.3", "--raw", "--offset", "3", "--limit", "1", "--numbered", "--base", str(base.root))
    assert (run.code, run.out) == (0, "3: How trust adds up.\n")
    assert kb("section", "B.3", "--raw", "--offset", "99", "--base", str(base.root)).out == ""


def test_lists_trees_and_states_are_printed(kb: Kb, base: Base) -> None:
    listed = kb("list", "--json", "--base", str(base.root)).json
    assert [row["id"] for row in listed["results"]] == ["B.3", "B.3.1", "notes"]
    assert (listed["total"], listed["truncated"], listed["error_count"]) == (3, False, 0)
    tree = kb("tree", "--json", "--base", str(base.root)).json
    assert [node["id"] for node in tree["results"]] == ["B", "notes"]
    assert kb("tree", "B.3", "--base", str(base.root)).out == "B.3  Trust Calculus\n  B.3.1  Gauge\n"
    status = kb("status", "--json", "--base", str(base.root)).json
    assert (status["collections"][0]["documents"], status["index"]["pending"]) == (3, 0)
    index = kb("index", "--json", "--base", str(base.root)).json
    assert (index["unchanged"], index["rebuilt"]) == (3, False)
    assert kb("index", "--rebuild", "--json", "--base", str(base.root)).json["rebuilt"] is True


# -- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", ""], "query is empty"),
        (["search", "  "], "query is empty"),
        (["search", "я" * 8193], "query has 8193 characters; 8192 at most"),
        (["search", "x", "--limit", "0"], "limit must be from 1 to 50, got 0"),
        (["search", "x", "--limit", "51"], "limit must be from 1 to 50, got 51"),
        (["search", "x", "--limit", "many"], "argument --limit: invalid int value: 'many'"),
        (["search", "x", "--offset", "-1"], "offset must be 0 or more, got -1"),
        (["search", "x", "--collection", "nope"], "unknown collection 'nope'; there are: docs"),
        (["search", "x", "--type", "nope"], "unknown type 'nope'; there are: pattern"),
        (["search", "x", "--language", "german"], "not a language code: 'german'"),
        (["search", "x", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["search"], "the following arguments are required: QUERY"),
        (["section", "B.3", "--offset", "3"], "offset/limit are only valid with raw=True, got offset=3, limit=None"),
        (["section", "B.3", "--limit", "7"], "offset/limit are only valid with raw=True, got offset=None, limit=7"),
        (["section", "B.3", "--offset", "3", "--limit", "7"], "offset/limit are only valid with raw=True, got offset=3, limit=7"),
        (["section", "B.3", "--numbered"], "numbered is only valid with raw=True, got numbered=True"),
        (["section", "../../etc/passwd"], "not an id or a source path inside the base"),
        (["section", "/etc/passwd"], "not an id or a source path inside the base"),
        (["section", "a\nb"], "an id may not hold control characters"),
        (["list", "--max-results", "101"], "max_results must be from 1 to 100, got 101"),
        (["list", "--since", "yesterday"], "since must be a date like 2026-11-30"),
        (["list", "--where", "novalue"], "--where needs key=value"),
        (["tree", "--depth", "0"], "depth must be from 1 to 64, got 0"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_2(kb: Kb, base: Base, arguments: list[str], message: str) -> None:
    run = kb(*arguments, "--base", str(base.root)) if arguments[0] != "frobnicate" else kb(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("kb: ")
    assert message in run.err
    assert run.err.count("\n") == 1


def test_an_error_is_json_too_where_that_was_asked_for(kb: Kb, base: Base) -> None:
    for arguments in (["search", "x", "--limit", "0"], ["search", "x", "--limit", "many"], ["section", "B.3", "--numbered"]):
        run = kb(*arguments, "--json", "--base", str(base.root))
        assert run.code == 2
        assert list(run.json) == ["error"]
        assert run.json["error"] in run.err


def test_8192_characters_are_a_query(kb: Kb, base: Base) -> None:
    assert kb("search", "  " + "я" * 8192 + "  ", "--base", str(base.root)).code == 1


def test_a_query_may_begin_with_a_sign(kb: Kb, base: Base) -> None:
    assert kb("search", "--base", str(base.root), "--json", "--", "-note trust").json["total"] == 2


def test_bytes_that_are_no_text_are_a_query(kb: Kb, base: Base) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "kb", "search", b"\xff\xfe", "--base", str(base.root)],
        capture_output=True, env={**os.environ, "KB_CACHE": str(base.cache)}, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert b"Traceback" not in run.stderr


# -- which base --------------------------------------------------------------------------------------------------


def test_a_base_that_is_not_there_is_said(kb: Kb, tmp_path: Path) -> None:
    run = kb("search", "x", "--base", str(tmp_path / "nope"), "--json")
    assert run.code == 2
    assert "base not found" in run.json["error"]
    assert "--base" in run.json["error"]


def test_one_file_is_a_base(kb: Kb, base: Base) -> None:
    run = kb("search", "trust", "--json", "--base", str(base.root / "notes.md"))
    assert [(r["id"], r["collection"]) for r in run.json["results"]] == [("notes", "notes")]


def test_where_none_is_named_stderr_says_which_base_was_searched(kb: Kb, base: Base, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    run = kb("search", "qwzx", cwd=folder)
    assert run.code in (0, 1)
    assert "knowledge" in run.err
    assert "--base ." in run.err


def test_the_nearest_kb_toml_upwards_is_the_base(kb: Kb, base: Base) -> None:
    (base.root / "kb.toml").write_text('[[collections]]\nname = "mine"\nroot = "."\n', encoding="utf-8")
    below = base.root / "deep" / "er"
    below.mkdir(parents=True)
    run = kb("search", "trust", cwd=below)
    assert run.code == 0
    assert str(base.root / "kb.toml") in run.err
    assert {r["collection"] for r in kb("search", "trust", "--json", cwd=below).json["results"]} == {"mine"}


def test_a_kb_toml_found_upwards_may_not_reach_outside_but_a_named_one_may(kb: Kb, base: Base, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "kb.toml").write_text(f'[[collections]]\nname = "out"\nroot = "{base.root}"\n', encoding="utf-8")
    found = kb("search", "trust", cwd=project)
    assert found.code == 2
    assert "lies outside its folder" in found.err
    assert kb("search", "trust", "--base", "kb.toml", cwd=project).code == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only the superuser can run the command as another user")
def test_a_folder_that_can_not_be_read_is_said(kb: Kb, base: Base) -> None:
    # The interpreter's own files may be the superuser's too: everything is imported by a first run.
    code = (
        "import os, sys; from kb.surfaces.cli import main; base = sys.argv[1]; main(['search', 'qwzx', '--base', base]);"
        " os.chmod(base, 0); os.setgid(65534); os.setuid(65534); sys.exit(main(['search', 'x', '--base', base]))"
    )
    try:
        done = Run(subprocess.run([sys.executable, "-c", code, str(base.root)], capture_output=True, check=False))
    finally:
        base.root.chmod(0o755)
    assert done.code in (2, 3)
    assert done.out == "nothing found\n"
    assert done.err.startswith("kb: ")
    assert done.err.count("\n") == 1


def _without_the_rights_of_the_superuser() -> None:
    """Let permissions hold for the process that is about to start, whoever runs it."""
    import ctypes

    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can take single rights from the superuser")
@pytest.mark.parametrize("mode", [0, 0o444], ids=["not listed", "listed, not entered"])
def test_a_folder_below_that_can_not_be_read_is_said_by_every_run(base: Base, mode: int) -> None:
    base.write("closed/secret.md", "# Secret\n\nA trust of its own.\n")
    closed = base.root / "closed"

    def run(*arguments: str) -> Run:
        command = [sys.executable, "-m", "kb", *arguments, "--base", str(base.root)]
        environment = {**os.environ, "KB_CACHE": str(base.cache)}
        before = _without_the_rights_of_the_superuser
        return Run(subprocess.run(command, capture_output=True, check=False, env=environment, preexec_fn=before))

    closed.chmod(mode)
    try:
        runs = [run("index"), run("index"), run("search", "trust"), run("search", "trust", "--json")]
    finally:
        closed.chmod(0o755)
    if "secret" in runs[-1].out:
        pytest.skip("this user reads everything")
    line = "a folder can't be read, left out: closed/; give yourself the right, or exclude it"
    assert [run.code for run in runs] == [0, 0, 0, 0]
    assert [run.err.count(line) for run in runs[:3]] == [1, 1, 1]
    assert runs[3].json["warning"] == line
    assert run("search", "trust", "--json").json["warning"] is None


# -- what a run leaves -------------------------------------------------------------------------------------------


def test_no_command_touches_the_documents_folder(kb: Kb, base: Base) -> None:
    (base.root / "broken.md").write_bytes(b"\x00\x01\x02\x03\x04\xff\xfe\x05" * 40)
    before = folder_hash(base.root)
    root = str(base.root)
    for arguments in (
        ["index"], ["search", "trust"], ["search", "trust", "--explain"], ["search", "trust", "--semantic"], ["section", "B.3"],
        ["section", "B.3", "--raw"], ["section", "broken.md"], ["list"], ["tree"], ["status"], ["index", "--rebuild"],
        ["ground", "trust"], ["cite", "B.3"], ["vector", "trust"], ["related", "B.3"], ["similar", "trust"],
        ["chunks", "trust", "--collection", "docs"], ["new", "--title", "X"], ["--help"], ["--version"],
    ):  # fmt: skip
        run = kb(*arguments, "--base", root) if arguments[0][0] != "-" else kb(*arguments)
        assert run.code in (0, 1, 2, 3)
        assert folder_hash(base.root) == before, arguments


def test_a_closed_output_is_no_traceback(base: Base) -> None:
    command = f'"{sys.executable}" -m kb search trust --base "{base.root}"'
    run = subprocess.run(["bash", "-c", f"{command} >&-"], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert subprocess.run(["bash", "-c", f"{command} >&- 2>&-"], check=False).returncode == 0


def test_nothing_but_the_answer_is_printed_into_a_pipe(kb: Kb, base: Base) -> None:
    run = kb("index", "--base", str(base.root))
    assert run.err == ""
    assert "\r" not in run.out
    assert "\x1b" not in run.out


@pytest.mark.parametrize(("command", "shown"), [(["search", "gauge"], "B.3.1"), (["index"], "files indexed")])
def test_a_command_says_that_it_waits_for_another_process_that_makes_the_index(
    base: Base, command: list[str], shown: str
) -> None:
    base.kb.index()
    catalog = Catalog.open(next(base.cache.rglob("catalog.db")).parent)
    with catalog.writing():
        catalog.set("fingerprint", "of another version")
    env = {**os.environ, "KB_CACHE": str(base.cache)}
    whole = [sys.executable, "-m", "kb", *command, "--base", str(base.root)]
    with catalog.writing():
        waiting = subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
    out, rest = waiting.communicate(timeout=60)
    catalog.close()
    assert said == "kb: another process is making this index; waiting for it\n"
    assert (waiting.returncode, rest) == (0, "")
    assert shown in out


def test_values_that_no_document_has_are_errors_that_list_those_that_are_there(kb: Kb, base: Base) -> None:
    for option, expected in (
        (("--language", "xx"), "kb: unknown language 'xx'; there are: en, ru\n"),
        (("--status", "nope"), "kb: unknown status 'nope'; there are: stable\n"),
    ):
        run = kb("search", "trust", *option, "--base", str(base.root))
        assert (run.code, run.out, run.err) == (2, "", expected)
        assert kb("ground", "trust", *option, "--base", str(base.root)).err == expected


def test_a_reader_that_has_had_enough_is_no_error(base: Base) -> None:
    env = {**os.environ, "KB_CACHE": str(base.cache)}
    command = f'"{sys.executable}" -m kb list --base "{base.root}" | head -c 1 > /dev/null; echo "${{PIPESTATUS[0]}}"'
    run = subprocess.run(["bash", "-c", command], capture_output=True, env=env, check=False)
    assert (run.stdout, run.stderr) == (b"0\n", b"")


def test_control_characters_of_a_document_do_not_reach_the_terminal(kb: Kb, make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Ti\x1b[31mtle\n\ntrust \x1b]0;title\x07 \u202e reversed\n"})
    for arguments in (["search", "trust"], ["section", "a"], ["section", "a", "--raw"], ["list"], ["tree"]):
        run = kb(*arguments, "--base", str(base.root))
        assert run.code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(run.out), arguments


def test_output_that_the_encoding_can_not_show_is_no_error(kb: Kb, base: Base) -> None:
    run = kb("search", "ёлка", "--base", str(base.root), env={"PYTHONIOENCODING": "ascii"})
    assert run.code == 0
    assert "\\u0451" in run.out


def test_help_and_version_are_printed(kb: Kb) -> None:
    assert kb("--help").code == 0
    assert kb("--version").out.startswith("kb ")
    run = kb("search", "--help")
    assert run.code == 0
    for option in ("--limit", "--offset", "--collection", "--type", "--status", "--language", "--explain", "--json", "--base"):
        assert option in run.out
    bare = kb()
    assert bare.code == 2
    assert "usage: kb" in bare.out


def test_a_damaged_index_is_exit_3_and_one_line(kb: Kb, base: Base, tmp_path: Path) -> None:
    root = str(base.root)
    assert kb("index", "--base", root).code == 0
    catalog = next((tmp_path / "kb-cache").rglob("catalog.db"))
    for extra in catalog.parent.glob("catalog.db-*"):
        extra.unlink()
    catalog.write_bytes(b"no catalog at all " * 1000)
    run = kb("search", "trust", "--base", root, "--json")
    assert run.code == 3
    assert "kb index --rebuild" in run.json["error"]
    assert run.err.count("\n") == 1
    assert kb("index", "--rebuild", "--base", root).code == 0
    assert kb("search", "trust", "--base", root).code == 0
