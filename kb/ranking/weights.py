"""The numbers that ranking depends on, each with its origin."""

from __future__ import annotations

K1 = 1.2
B = 0.75
"""BM25's saturation and length normalisation. Robertson and Zaragoza (2009) give 1.2-2 and .5-.8; on XQuAD dev in three
languages k1 from 1.2 to 1.5 at b = .75 is a plateau."""

HEAD_B = 0.75
"""Length normalisation of names: as for text; .3 to .9 make no difference on the dev questions."""

PASSAGE_WEIGHT = 1.0
SECOND_WEIGHT = 0.3
LEAD_WEIGHT = 0.8
HEAD_WEIGHT = 0.9
"""What the best passage, the next best, the lead and the best name (title, alias) add to a section's score. On the dev
questions .3 to .6, .5 to 1.2 and .7 to 1.2 are plateaus."""

SNIPPET_CHARACTERS = 240

DENSE_CANDIDATES = 100
KEYWORD_CANDIDATES = 200
"""Hits of each language by nearness, and hits by keywords, that semantic mode fuses. With .3 to .5 of the small model on the dev
sets 30 and 100 differ by less than the noise; 30 loses on long specifications, 200 where languages are mixed."""
FULL_STANDING = 4.0
"""Deviations above its language's mean from which the nearest hit counts in full. On the dev sets 4 to 6 with weights that fit
them differ by less than the noise; without such a bound (each question's nearest counts in full) FPF loses .005 of MRR@10."""
NAMES_WEIGHT = 1.7
"""What standing out by names (aliases and questions of front matter) counts for, beside standing out by text. Dev questions about
the shipped base, MRR@10 with R@5, from the meaning of sections and across languages or with no word in common: at 0 .900/.950 and
.609/.633, at .7 .931/.961 and .676/.706, at 1 .936/.965 and .686/.794, at 1.3 .941/.966 and .694/.794, at 1.7 .936/.966 and
.739/.794, at 2.2 .927/.970 and .730/.794. Questions of all classes are .901 to .909 throughout."""
NEAREST_NAMES = (1.0, 0.5, 0.25)
"""What the nearest, second and third name of a section in one language count for in their mean. By names alone .81 of the dev
questions from the meaning of sections have theirs among the first five with the nearest only, .86 with these, .85 with three
alike; of 750 questions taken out of front matter, whose aliases stay, .30, .33 and .30. With languages pooled instead of the best
of them .36 of the 750; and the whole search has .794 of those across languages or with no word in common, for .711."""
CLEAR_STANDING = 3.6
"""Deviations above its language's mean from which a hit without support by keywords is not marked as weak. Measured with the
small model: the nearest hit of 42 made-up queries on two sets reached 3.56 at most; of 1,190 XQuAD questions nine in ten stand
above, of Russian ones on English paragraphs seven in ten."""
CLEAR_NAME = 4.6
"""The same of names, whose languages are pooled. Of 63 questions about other things whose first hit neither words nor text
support, it stands below in 59; of the dev questions about the shipped base more than half stand above."""
RERANK_WEIGHT = 1.0
"""What the best of the reranked candidates gains; as much as both rankings together can give."""

NEAR_LEAST = 0.4
NEAR_WEIGHT = 0.3
"""From which Dice coefficient of character 4-grams on a word counts as similar, and what it adds beside a word of the
query (times the coefficient). On XQuAD dev .4 to .5 and .2 to .4 are a plateau in all three languages."""
NEAR_MOST = 8
"""Similar words that are taken for one word of the query."""
NEAR_VOCABULARY = 100_000
"""Up to this many spellings in the index every word of a query is widened; above, only words that it does not hold."""
PART_LEAST = 0.2
"""From which Dice coefficient on a part of a compound counts, where the base holds a language that writes compounds as one word.
A word of five letters in one of thirteen has .38. On XQuAD dev in German .2 and .4 differ by less than the noise (R@5 .985 and
.983); of the compounds in the guide that are two words of it, all are found by the second at .2, .87 of them at .4."""
PART_SHORTEST = 5
"""Characters of the shorter word where a word counts as a part of a compound."""

SPELLING_SHORTEST = 5
"""Characters of a word from which it is corrected. Shorter words are corrected only where a letter was lost or two changed
places, and the word found stands beside another word of the query: nearly every other short word is one edit away."""
SPELLING_SHORTEST_IN_COMPANY = 4
SPELLING_TWO_EDITS_FROM = 9
"""From this many characters on, two edits are allowed. With every long word of XQuAD misspelt 8 to 10 are a plateau."""
SPELLING_MOST_COMPARED = 8
"""Known words of equal distance that are compared by the company they keep."""
SPELLING_LOST = 1.5
SPELLING_STRAY = 1.0
SPELLING_FREQUENCY = 0.3
"""What speaks for one of several known words that are equally far away, in natural logarithms, beside that of the company that
it keeps: that a letter was lost or two were swapped, and none replaced; against it that a letter was put in; for it how many
documents hold it. Of 1,287 such choices in misspelt questions (about the shipped base, and XQuAD) .923 are right, .858 by company
alone; of 1,289 others .923 and .870. 1 to 2, .7 to 1.5 and .2 to .5 are a plateau. That letters are neighbours on the keyboard or
both vowels adds .003."""
SPELLING_FUNCTION = 0.6
"""What a misspelt function word adds to hits that hold another word of the query; it brings in none. Of 3,000 parts of questions
with a slip .919 bring the same first hit as without it if such a word counts like any other, .946 at .6, .947 at .3, .951 at 0.
XQuAD with a slip in every long word has nDCG@10 .962, .962, .961, .960 in English, and .938, .940, .941, .939 in German."""
SPELLING_RATHER = 2.0
"""How many times better another word must go with the rest of a query than a form that stands nowhere though its term is known;
looked for in small bases only. 1.5 to 5 make no difference on XQuAD, misspelt or not; without it a misspelt one loses .02. For a
form that a dictionary of its language lacks 1 is enough: of Russian names with one slip 395 of 395 are first then."""

LANGUAGE_MARGIN = 0.05
"""What is added to the units of a language before rarity in it is worked out, as a share of all units: a language of a few
documents has hardly any rare words. Without the whole rule dev questions about the shipped base have .867 of MRR@10 and .920 of
R@5 (German ones .762 and .862), with it and 0 .874 and .926, .05 .876 and .927, .1 .875 and .924 (German ones .795 and .910 at
.05). XQuAD in three languages as one base: ru .949 for .945, de and en alike. The lowest or the highest of a term's languages
instead of the mean of its places differ by less than the noise; names weighed alike lose .008."""

ID_BOOST = 1.0
"""What a query that names a section's id adds, as a share of the most that words score: such a section comes first."""
TITLE_BOOST = 0.7
ALIAS_BOOST = 0.4
"""What a query that is word for word a section's title, or an alias of it, adds, as a share of the most that words score: such
a section comes first, but after one that is named by id; a title before a page that has the same words among its aliases. .5 to
.9 make no difference on the dev questions."""
PART_SUPPORT = 0.5
"""How far an unseen word counts as known of which the base knows a part, times their likeness. A word that could be corrected
counts in full: with .5 one question in seventeen is refused once every long word is misspelt, with 1 one in a hundred and fifty,
and the dev questions without an answer are refused alike."""
HELD_SPEAKS = 2.0
WORDS_SPEAK = 0.15
MOST_WORDS_SPEAK = 6
LEAST_EVIDENCE = 1.9
LEAST_VOCABULARY = 15_000
"""A question of two words or more is left unanswered where the share of it that the base knows, by weight, with so many times
the share that the best hit holds and so much for each of its words, up to so many, comes to less than the least. Only where the
index holds so many spellings: with fewer (XQuAD's bases hold 7,500 to 11,500) an unseen word says little about a question. The
form is that of a logistic regression over 2,000 answerable questions and 1,000 others; a dozen further features add little; how
frequent words are in a language at large would halve the answerable ones refused, and takes a table of words. Of 623 dev
questions that the two large bases answer none is refused, and none would be up to 2.05; of 60 without an answer .93 are, of 90
more .93, of 750 questions of XQuAD asked of the shipped base .63. Of 1,785 asked of a base of 55,000 spellings that answers
them 17 are refused (49 with a typo in every long word). At 1.85 .92, .91 and .60, at 1.95 .93, .93 and .67 of those without an
answer are refused; 1.5 to 2.5 times the share held, and .1 to .2 for a word, each with the least that fits it, are a plateau.
Of 180 new questions without an answer .83 are refused, of 120 with one two."""
NAME_LIKENESS = 0.4
RARE_UNITS = 10
"""Not so where the question is like a name of that hit, by this Dice coefficient of their words, or a word of it is a whole name;
nor where a word that stands in so few passages is so much of a name of another section. Of 393 questions of three words, the
rarest of a title and two unknown ones, .48 are refused, of those of two .26; without short names .56 and .35. 5 to 10 passages
are a plateau."""
WEAK_SUPPORT = 0.5
"""Below this share an answer is marked as weak."""

PREFIX_SHORTEST = 2
"""Characters from which on an unfinished word stands for those that it begins (one for Chinese, Japanese and Korean)."""
PREFIX_MOST = 16
"""Words that an unfinished one may stand for: those in the most documents."""
PREFIX_WEIGHT = 0.75
"""What a word that an unfinished one begins counts for, beside the same word written out. With the last word of dev questions cut
in half R@5 is .86 without completion, .87 at .25, .88 at .5 to 1 (whole: .92); of titles of several words .88, .95, .97 and .98.
Below 1, so that the word itself comes first. How many words are taken makes no difference from 4 to 32."""

GLOSSARY_WEIGHT = 0.5
"""What a form that a glossary gives counts for, beside the words of the question themselves (1). On the dev questions about the
framework, asked of the sections in one other language alone, R@5 is .44 without a glossary, .56 at .3, .61 at .5, .62 at 1
(English to Russian; .57, .69, .74, .75 Russian to English; .33, .81, .81, .81 German to Russian). Asked of all sections, they
lose nothing at .3 to .6; at 1 English ones lose .016 of R@1, and .09 more are shown a section in another language first."""
