"""The frozen shapes that every surface returns, and their form as JSON.

Each group of shapes is loaded when one of them is first asked for: a search needs three of them, and making a class
costs a noticeable part of the time a command takes to start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.answers.found import PassageRef as PassageRef
    from kb.answers.found import Result as Result
    from kb.answers.found import SearchAnswer as SearchAnswer
    from kb.answers.sections import ListAnswer as ListAnswer
    from kb.answers.sections import Node as Node
    from kb.answers.sections import RawWindow as RawWindow
    from kb.answers.sections import Row as Row
    from kb.answers.sections import SectionAnswer as SectionAnswer
    from kb.answers.sections import TreeNode as TreeNode
    from kb.answers.state import CollectionStatus as CollectionStatus
    from kb.answers.state import IndexAnswer as IndexAnswer
    from kb.answers.state import StatusAnswer as StatusAnswer

_HOMES = {
    "PassageRef": "found",
    "Result": "found",
    "SearchAnswer": "found",
    "Node": "sections",
    "SectionAnswer": "sections",
    "RawWindow": "sections",
    "Row": "sections",
    "ListAnswer": "sections",
    "TreeNode": "sections",
    "CollectionStatus": "state",
    "StatusAnswer": "state",
    "IndexAnswer": "state",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kb.answers.{_HOMES[name]}"), name)
