"""Records are frozen values with slots that the functions of `dataclasses` know too."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from kb.records import names_of, record, replace


@record
class Place:
    """A place."""

    name: str
    line: int = 1
    also: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}:{self.line}"

    def __bool__(self) -> bool:
        return self.line > 0


def test_a_record_takes_its_fields_by_place_and_by_name() -> None:
    assert Place("a", 2) == Place(name="a", line=2, also=())
    assert Place("a").shown == "a:1"


def test_many_records_are_made_like_the_first() -> None:
    made = [Place(f"{number}", line=number) for number in range(100)]
    assert [(place.name, place.line, place.also) for place in made] == [(f"{number}", number, ()) for number in range(100)]
    assert len(set(made)) == 100


def test_a_record_without_a_field_that_it_needs_is_an_error() -> None:
    with pytest.raises(TypeError, match="name"):
        Place()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        Place("a", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="name"):
        Place("a", name="b")  # type: ignore[misc]
    with pytest.raises(TypeError, match="4"):
        Place("a", 1, (), 2)  # type: ignore[call-arg]


def test_a_record_keeps_its_methods_and_its_documentation() -> None:
    assert not Place("a", 0)
    assert Place.__doc__ == "A place."
    assert repr(Place("a")) == "Place(name='a', line=1, also=())"


def test_a_record_cannot_be_changed_and_has_no_other_fields() -> None:
    place = Place("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.line = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del place.line
    assert not hasattr(place, "__dict__")


def test_records_are_equal_by_their_class_and_their_values() -> None:
    assert Place("a") == Place("a")
    assert Place("a") != Place("b")
    assert Place("a") != ("a", 1, ())  # type: ignore[comparison-overlap]
    assert len({Place("a"), Place("a"), Place("b")}) == 2


def test_a_changed_copy_leaves_the_record_as_it_is() -> None:
    place = Place("a", also=("b",))
    assert replace(place, line=3) == Place("a", 3, ("b",))
    assert place.line == 1


def test_a_class_below_a_record_is_made_like_it_whichever_is_made_first() -> None:
    @record
    class Above:
        name: str

    class Below(Above):
        __slots__ = ()

    assert type(Below("b")) is Below
    assert Below("b").name == Above("b").name
    assert Below("b") != Above("b")


def test_records_can_be_copied_and_pickled() -> None:
    place = Place("a", 2)
    assert pickle.loads(pickle.dumps(place)) == copy.deepcopy(place) == copy.copy(place) == place


def test_the_functions_of_dataclasses_know_records() -> None:
    place = Place("a", also=("b",))
    assert dataclasses.is_dataclass(Place)
    assert [entry.name for entry in dataclasses.fields(place)] == list(names_of(Place)) == ["name", "line", "also"]
    assert dataclasses.fields(Place)[1].default == 1
    assert dataclasses.asdict(place) == {"name": "a", "line": 1, "also": ("b",)}
    assert dataclasses.replace(place, line=4) == Place("a", 4, ("b",))  # type: ignore[call-arg]
