"""Frozen values with slots, as `dataclass(frozen=True, slots=True)` makes them, at a fraction of what that takes at import.

A search is over in the time that making forty dataclasses takes several times over: each compiles half a dozen functions of
which most are never called. A record compiles its `__init__` alone, and that only once several values have been made. The
functions of `dataclasses` (`fields`, `replace`, `asdict`) know records too.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
_FEW = 8


class _Fields:
    """Makes what `dataclasses` reads of a class when it first asks."""

    def __get__(self, _: object, cls: type) -> dict[str, Any]:
        from dataclasses import dataclass

        annotations = {name: cls.__annotations__[name] for name in names_of(cls)}
        plain = type(cls.__name__, (), {"__annotations__": annotations, "__module__": cls.__module__, **_defaults(cls)})
        found: dict[str, Any] = dataclass(plain).__dataclass_fields__  # type: ignore[attr-defined]
        cls.__dataclass_fields__ = found  # type: ignore[attr-defined]
        return found


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class of annotated fields one of frozen values with slots; a default must be a value that can't change."""
    names = tuple(vars(cls).get("__annotations__", ()))
    own = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__", *names)}
    own |= {"__slots__": names, "__match_args__": names, "_record_made": []}
    own["_record_defaults"] = {name: vars(cls)[name] for name in names if name in vars(cls)}
    own |= {name: own.get(name, value) for name, value in _METHODS.items()}
    made: type[T] = type(cls.__name__, cls.__bases__, own)
    made.__qualname__ = cls.__qualname__
    return made


def replace(value: T, /, **changes: Any) -> T:
    """Return the record with some of its fields changed."""
    return type(value)(**({name: getattr(value, name) for name in names_of(value)} | changes))


def names_of(record: object) -> tuple[str, ...]:
    """Return the names of the fields of a record, or of a class of them, in order."""
    found: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    return found


def _defaults(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = cls._record_defaults  # type: ignore[attr-defined]
    return found


def _init(self: Any, *values: Any, **named: Any) -> None:
    """Set the fields of the first values that are made; of many, or wrong ones, an `__init__` takes care that is compiled."""
    cls = type(self)
    defaults, names = _defaults(cls), names_of(cls)
    given = dict(zip(names, values, strict=False)) | named
    held = defaults | given
    made = cls._record_made
    made.append(None)
    if len(made) > _FEW or len(given) < len(values) + len(named) or held.keys() != set(names):
        _compile(next(cls for cls in cls.__mro__ if "_record_made" in vars(cls)))
        self.__init__(*values, **named)
        return
    for name in names:
        object.__setattr__(self, name, held[name])


def _compile(cls: type) -> None:
    """Give a class an `__init__` of its own, which takes a tenth of the time once it is there."""
    defaults, names = _defaults(cls), names_of(cls)
    given = ", ".join(f"{name}=_default_{name}" if name in defaults else name for name in names)
    lines = "".join(f"\n    _set_{name}(self, {name})" for name in names)
    known = {f"_set_{name}": vars(cls)[name].__set__ for name in names}
    known |= {f"_default_{name}": value for name, value in defaults.items()}
    exec(f"def __init__(self, {given}):{lines or ' pass'}", known)
    cls.__init__ = known["__init__"]  # type: ignore[misc]


def _refuse(self: object, name: str, _: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in names_of(self)])


def _equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _repr(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names_of(self))})"


_METHODS: dict[str, Any] = {
    "__dataclass_fields__": _Fields(),
    "__init__": _init,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__eq__": _equal,
    "__hash__": lambda self: hash(_values(self)),
    "__repr__": _repr,
    "__reduce__": lambda self: (type(self), _values(self)),
}
