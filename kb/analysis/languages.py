"""Which language a text is in, and which script a word is in.

A whole document is judged by its script and its function words. A query is too short for that: its words are analysed under
every language the index holds. Only what is shown of a section in several languages depends on what a query seems to be in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 code -> the name of its Snowball algorithm."""

_SCRIPT_OF = {
    "ru": "cyrillic", "sr": "cyrillic", "uk": "cyrillic", "bg": "cyrillic", "be": "cyrillic", "mk": "cyrillic",
    "el": "greek", "ar": "arabic", "fa": "arabic", "hy": "armenian", "hi": "devanagari", "ne": "devanagari",
    "ta": "tamil", "yi": "hebrew", "he": "hebrew", "zh": "cjk", "ja": "cjk", "ko": "cjk",
}  # fmt: skip
_DEFAULT = {"latin": "en", "cyrillic": "ru"}

# Function words: they carry grammar, not subject. Used to judge documents and, in a query, set aside
# while anything else is there.
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(
        "a an the and or but nor so if then than that this these those there here it its he she they we you i me him "
        "her us them my your his our their who whom whose which what when where why how is are was were be been being "
        "am do does did doing have has had having will would shall should can could may might must of in on at by for "
        "with about against between into through during before after above below to from up down out off over under "
        "again further once as until while because both each few more most other some such no not only own same too "
        "very just also any all".split()
    ),
    "de": frozenset(
        "weshalb wohin woher wem wen wessen wieviel wofür wozu womit woran "
        "der die das den dem des ein eine einen einem einer eines und oder aber denn sondern wenn als wie dass ob weil "
        "da damit ich du er sie es wir ihr mich dich sich uns euch ihm ihnen mein dein sein unser euer mir dir wer was "
        "welche welcher welches wo wann warum wieso ist sind war waren bin bist wird werden wurde wurden hat haben "
        "hatte hatten kann können konnte muss müssen soll sollen darf dürfen mag in im an am auf aus bei beim mit nach "
        "von vom vor zu zum zur für über unter um durch gegen ohne bis zwischen nicht kein keine keinen nur auch noch "
        "schon sehr so dann hier dort man diese dieser dieses diesen diesem jede jeder jedes alle".split()
    ),
    "ru": frozenset(
        "сколько насколько отчего кого кому кем ком чем чего чему чём "
        "и или но а да же ли бы не ни что чтобы если то как так когда где куда откуда почему зачем кто чей какой какая "
        "какое какие каков который которая которое которые я ты он она оно мы вы они меня тебя его ее нас вас их мне "
        "тебе ему ей нам вам им мной тобой ним ней ними себя себе мой твой свой наш ваш в во на с со к ко по из изо от "
        "ото до за над под о об обо при про для без через между перед у это этот эта эти этого этой этих тот та те "
        "того той тех был была было были быть есть будет будут уже еще только очень тоже также там тут здесь все всё "
        "весь вся".split()
    ),
}

# Function words of other Latin languages that tell them from English and German; enough to judge a document.
_OTHER_LATIN: dict[str, frozenset[str]] = {
    "fr": frozenset("le la les des du et est une dans que qui pour pas sur au aux avec sont ce cette il elle nous vous".split()),
    "es": frozenset("el la los las del y es una en que por para con no se lo como más pero sus este esta son al".split()),
    "it": frozenset("il lo la gli le di e è una che per non con si del della sono come più questo anche nel alla".split()),
    "pt": frozenset("o os as do da dos das e é uma em que para com não se no na por mais como mas ao são um".split()),
    "nl": frozenset("de het een en van is dat die niet op te zijn voor met ook aan er maar om dan zou naar bij".split()),
    "pl": frozenset("i w na z do się nie jest że to jak ale po od za co przez tak być dla o są lub oraz".split()),
    "sv": frozenset("och i att det som en på är av för med den till inte har de ett om var sig men från".split()),
    "tr": frozenset("ve bir bu da de için ile çok ne gibi daha olarak olan kadar sonra ama en ya her var".split()),
}
_WORDS = r"[^\W\d_]+"
_SAMPLE = 2_000
_FEWEST = 3
_JUDGED = (*_OTHER_LATIN, "en", "de")


def detect(text: str, default: str | None = None) -> str:
    """Return the ISO 639-1 code of a document's language, by its script and function words.

    `default` is returned where the text gives too little to judge (fewer than three function words).
    Only the first 2,000 characters are looked at.
    """
    sample = text[:_SAMPLE].lower()
    cyrillic = 0 if sample.isascii() else sum(map(len, re.findall("[\u0400-\u04ff]+", sample)))
    latin = 0 if sample.isascii() else sum(map(len, re.findall("[a-zà-öø-ÿ]+", sample)))
    if cyrillic > latin / 2 and cyrillic:
        if re.search("[їєґ]", sample) and not re.search("[ыъэё]", sample):
            return "uk"
        return "ru"
    other = None if sample.isascii() or latin > len(sample) / 2 else _other_script(sample, latin)
    if other:
        return other
    counts = dict.fromkeys(_JUDGED, 0)
    languages_of = _languages_of()
    for word in re.findall(_WORDS, sample):
        for language in languages_of.get(word, ()):
            counts[language] += 1
    best = max(sorted(counts), key=lambda language: (counts[language], language == default))
    if counts[best] < _FEWEST:
        return default or "en"
    return best


def of_question(asked: Iterable[str], languages: Collection[str]) -> str | None:
    """Return in which of some languages a question of a few words is, None where that is not clear.

    Its function words say it, then its script, then letters that of English and German only one has.
    """
    spelt = [word.lower().replace("ё", "е") for word in asked]
    counts = {language: sum(map(_function_words(language).__contains__, spelt)) for language in languages}
    most = max(counts.values(), default=0)
    likely = [language for language, count in counts.items() if count == most]
    if most and len(likely) == 1:
        return likely[0]
    text = " ".join(spelt)
    if text.isascii():
        return None
    latin = [language for language in languages if script_of(language) == "latin"]
    found = detect(text, "")
    if script_of(found) != "latin":
        return found if found in languages else None
    return "de" if "de" in latin and {"en", "de"}.issuperset(latin) and re.search("[äöüß]", text) else None


def _function_words(language: str) -> frozenset[str]:
    return _FOLDED.get(language) or _OTHER_LATIN.get(language) or frozenset()


@cache
def _languages_of() -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for language, words in (*_OTHER_LATIN.items(), *FUNCTION_WORDS.items()):
        if language in _JUDGED:
            for word in words:
                out.setdefault(word, []).append(language)
    return out


def _other_script(sample: str, latin: int) -> str | None:
    ranges = {
        "el": "[\u0370-\u03ff]", "ar": "[\u0600-\u06ff]", "he": "[\u0590-\u05ff]", "hy": "[\u0530-\u058f]",
        "hi": "[\u0900-\u097f]", "ta": "[\u0b80-\u0bff]", "ja": "[\u3040-\u30ff]", "ko": "[\uac00-\ud7af]",
        "zh": "[\u4e00-\u9fff]",
    }  # fmt: skip
    counts = {language: len(re.findall(pattern, sample)) for language, pattern in ranges.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > latin / 2 else None


@lru_cache(maxsize=65536)
def script(word: str) -> str:
    """Return the script of a word's first letter: latin, cyrillic, greek, … or "none" (digits and signs)."""
    for char in word:
        if "a" <= char <= "z" or "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff" or "A" <= char <= "Z":
            return "latin"
        if "\u0400" <= char <= "\u052f":
            return "cyrillic"
        if char.isalpha():
            break
    else:
        return "none"
    for name, low, high in (
        ("greek", "\u0370", "\u03ff"), ("armenian", "\u0530", "\u058f"), ("hebrew", "\u0590", "\u05ff"),
        ("arabic", "\u0600", "\u06ff"), ("devanagari", "\u0900", "\u097f"), ("tamil", "\u0b80", "\u0bff"),
    ):  # fmt: skip
        if low <= char <= high:
            return name
    return "other"


def script_of(language: str) -> str:
    """Return the script that a language is written in."""
    return _SCRIPT_OF.get(language, "latin")


def language_for(word_script: str, language: str) -> str | None:
    """Return the language whose rules a word of a script follows inside a document of `language`.

    A Latin word in a Russian document follows English rules, a Cyrillic word in a German one Russian
    rules; None where no rules are known (the word is compared as it is spelt).
    """
    if word_script == script_of(language):
        return language if language in STEMMERS else None
    return _DEFAULT.get(word_script)


def is_function_word(spelling: str, languages: tuple[str, ...]) -> bool:
    """Tell whether a normalised word is a function word of one of the languages."""
    return any(spelling in _FOLDED.get(language, ()) for language in languages)


_FOLDED = {language: frozenset(word.replace("ё", "е") for word in words) for language, words in FUNCTION_WORDS.items()}
