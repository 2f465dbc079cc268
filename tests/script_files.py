"""The scripts of the repository as modules, for tests that check them."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def script(name: str) -> ModuleType:
    """Return scripts/NAME as a module; nothing of it has run but its definitions."""
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec = spec_from_loader(f"scripts_{name}", SourceFileLoader(f"scripts_{name}", str(SCRIPTS / name)))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module
