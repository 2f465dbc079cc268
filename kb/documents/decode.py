"""The bytes of a file to text, whatever wrote them."""

from __future__ import annotations

import codecs
import re

from kb.records import record

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CANDIDATES = str.split("cp1251 koi8_r cp866 cp1252 cp1250 cp1253 cp1254 shift_jis gb18030 big5 euc_kr euc_jp")
_CONTROLS = bytes([*range(1, 9), *range(14, 27), *range(28, 32)])
_SAMPLE = 64 * 1024
_VALID = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_WORD = re.compile(r"[^\W\d_]+")
_WESTERN = frozenset("äöüÄÖÜßéèêëàâáçñíóúôîïùûøåæœÉÀÇÅØÆÑ¿¡«»‹›–—‘’“”„‚…€£°§©®™²³·•½×\xa0\xad")
# Share of each letter in running Russian, in percent.
_FREQUENCY = {
    letter: share
    for share, letters in (
        (10.9, "о"), (8.5, "е"), (8, "а"), (7.4, "и"), (6.5, "нт"), (5.5, "с"), (4.5, "рвл"), (3.3, "кмд"),
        (2.7, "пу"), (1.9, "яыьг"), (1.6, "збч"), (1, "йхж"), (0.5, "шюцщ"), (0.3, "эф"), (0.04, "ъё"),
    )
    for letter in letters
}  # fmt: skip
_LEAST_FREQUENCY = 3.0
_LINE_ENDS = re.compile(r"\r\n?|\n")


class NotText(Exception):
    """The bytes are not text in any encoding known here; the message says how that shows."""


@record
class Decoded:
    """Text with line ends `\\n`, without byte order mark and NUL, and what had to be done to it."""

    text: str
    warnings: tuple[str, ...]


def decode(source: str, data: bytes) -> Decoded:
    """Decode a whole file. Raises NotText for binary data."""
    warnings: list[str] = []
    text = _decoded(source, data, warnings)
    if "\r" in text:
        returns = text.count("\r")
        pairs = text.count("\r\n")
        feeds = text.count("\n")
        if 0 < pairs < max(returns, feeds) or (pairs == 0 and feeds):
            warnings.append(f"{source}:{_first_change(text)}: line ends are mixed, read as one kind")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        warnings.append(f"{source}:{line}: NUL characters ({text.count(chr(0))} in the file), removed")
        text = text.replace("\0", "")
    return Decoded(text, tuple(warnings))


def _first_change(text: str) -> int:
    """The line whose end differs from the first line's."""
    kind = ""
    for number, end in enumerate(_LINE_ENDS.finditer(text), 1):
        if kind and end.group() != kind:
            return number
        kind = end.group()
    return 1


def _decoded(source: str, data: bytes, warnings: list[str]) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(source, data[len(mark) :], encoding, warnings)
    if b"\0" in data and not _narrow(data):
        wide = _utf16(data)
        if wide is not None:
            warnings.append(f"{source}:1: not UTF-8, read as {wide[0]}")
            return wide[1]
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    nuls = sample.count(0)
    if controls > max(3, len(sample) // 50) or nuls > max(16, len(sample) // 50):
        raise NotText(f"not text: {100 * (controls + nuls) // len(sample)} % of its first bytes are control characters")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A file that is UTF-8 but for a few bytes must not become mojibake as a whole.
        good = sum(1 for _ in _VALID.finditer(data))
        text = data.decode("utf-8", "replace")
        bad = text.count("\ufffd")
        if good > bad:
            line = _line_at(data, error.start)
            warnings.append(f"{source}:{line}: {bad} bytes are not UTF-8, each read as \ufffd")
            return text
    encoding, text = _guessed(data)
    warnings.append(f"{source}:1: not UTF-8, read as {encoding}")
    return text


def _line_at(data: bytes, position: int) -> int:
    before = data[:position]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1


def _marked(source: str, data: bytes, encoding: str, warnings: list[str]) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        warnings.append(f"{source}:1: byte {error.start} and others are not {encoding.upper()}, read as \ufffd")
        return data.decode(encoding, "replace")


def _narrow(data: bytes) -> bool:
    """UTF-8 that a few NULs got into: in UTF-16 these, or the control characters that high bytes look like, are many."""
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, b"\0" + _CONTROLS))
    if controls * 10 > len(sample):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _utf16(data: bytes) -> tuple[str, str] | None:
    """UTF-16 without a mark: the NULs stand on one side of the pairs only."""
    sample = data[:_SAMPLE]
    high, low = sample[0::2].count(0), sample[1::2].count(0)
    if max(high, low) < max(1, len(sample) // 100) or min(high, low) * 20 > max(high, low):
        return None
    encoding = "utf-16-be" if high > low else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    strange = sum(1 for c in text[:_SAMPLE] if not c.isprintable() and c not in "\0\t\n\r\f\xa0\u3000")
    return None if strange * 50 > min(len(text), _SAMPLE) else (encoding.upper(), text)


def _guessed(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    sample = data[: 4 * _SAMPLE]
    encodings = [_cyrillic(sample) or _western(sample)]
    if encodings[0] is None:
        best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
        encodings = [best.encoding if best is not None else None]
    for encoding in (*encodings, "cp1252"):
        try:
            if encoding is not None:
                return encoding.replace("_", "-"), data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return "latin-1", data.decode("latin-1")


def _western(sample: bytes) -> str | None:
    """cp1252, where all that is not ASCII are letters and marks that Western European text is full of."""
    high = {byte for byte in sample if byte >= 0x80}
    return "cp1252" if set(bytes(high).decode("cp1252", "replace")) <= _WESTERN else None


def _cyrillic(sample: bytes) -> str | None:
    """The Cyrillic code page under which the bytes are Russian, or None.

    A detector built for many languages errs on a few words. Letter frequencies do not: in the right code page most
    letters are common ones, and no word changes from small letters to capitals.
    """
    best: tuple[float, str] | None = None
    for encoding in ("cp1251", "koi8_r", "cp866"):
        text = sample.decode(encoding, "replace")
        words = [word for word in _WORD.findall(text) if any("\u0400" <= c <= "\u04ff" for c in word)]
        pure = [word for word in words if all("\u0400" <= c <= "\u04ff" for c in word)]
        if not any(len(word) > 2 for word in pure) or len(pure) < 0.8 * len(words):
            continue
        letters = "".join(pure).lower()
        high = len(text) - len(text.encode("ascii", "ignore"))
        common = sum(_FREQUENCY.get(c, 0.0) for c in letters) / high
        odd = sum(1 for word in pure if not (word.islower() or word.isupper() or word.istitle()))
        score = common * (1 - odd / len(pure))
        if best is None or score > best[0]:
            best = score, encoding
    return best[1] if best is not None and best[0] > _LEAST_FREQUENCY else None
