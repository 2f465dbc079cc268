"""Which files a folder leaves out: `.gitignore` and `.kbignore` at every level, and patterns from the configuration.

The pattern library is imported by the first pattern, not before: most folders have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.records import record

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_LARGEST_BYTES = 1024 * 1024


@record
class Rules:
    """The patterns of one folder's ignore files, and those of the folders above."""

    prefix: str
    spec: GitIgnoreSpec
    above: Rules | None

    def ignores(self, path: str, folder: bool) -> bool:
        """Whether git would leave out `path` (relative to the root, posix); the nearest folder with a say decides."""
        rules: Rules | None = self
        while rules is not None:
            inner = path[len(rules.prefix) :] + ("/" if folder else "")
            verdict = rules.spec.check_file(inner).include
            if verdict is not None:
                return verdict
            rules = rules.above
        return False


def patterns(lines: Sequence[str]) -> tuple[GitIgnoreSpec, list[str]]:
    """The patterns that `lines` hold, in git's syntax, and those that are none."""
    from pathspec import GitIgnoreSpec

    good: list[str] = []
    bad: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            bad.append(line)
        else:
            good.append(line)
    return GitIgnoreSpec.from_lines(good), bad


def rules_of(prefix: str, paths: Sequence[str], above: Rules | None) -> tuple[Rules | None, list[str]]:
    """The rules that hold in the folder `prefix` (`""` or `a/b/`) with its ignore files `paths`, later ones stronger.

    The second value says what could not be read; the walk goes on without it.
    """
    lines: list[str] = []
    problems: list[str] = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read(_LARGEST_BYTES).decode("utf-8-sig", "replace")
        except OSError as error:
            problems.append(f"can't be read ({error.strerror}), not honoured")
            continue
        lines += text.splitlines()
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return above, problems
    spec, bad = patterns(lines)
    problems += [f"pattern {line!r} is not valid, left out" for line in bad]
    return Rules(prefix, spec, above), problems
