"""What is no longer in a segment, as the catalog keeps it; no numpy is imported, which a look at the files can do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@record
class Dead:
    """What later writes have removed from a segment.

    `units`, `names` and `hits` are sorted positions. `text` and `head` are pairs of arrays for the two fields:
    terms, sorted, and how many of each term's postings are dead; `words` says the same of spellings and documents.
    """

    units: NDArray[np.int32]
    names: NDArray[np.int32]
    hits: NDArray[np.int32]
    text: tuple[NDArray[np.int32], NDArray[np.int32]]
    head: tuple[NDArray[np.int32], NDArray[np.int32]]
    words: tuple[NDArray[np.int32], NDArray[np.int32]]
