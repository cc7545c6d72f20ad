"""Word lists of ragpg.memory.frames, folded. Extend a list where a word is missing."""

from __future__ import annotations

import re

from ragpg.query.sentence_words import word_set

#: Heads of what has one value at a time: "my manager is ...", "the default branch is ...".
ATTRIBUTES = word_set(
    """
    name nickname surname age birthday height weight address email phone number username
    handle password timezone zone hometown nationality religion diet job title role
    occupation profession employer company salary manager boss supervisor lead leader owner
    maintainer assistant doctor dentist therapist landlord wife husband spouse partner
    girlfriend boyfriend fiancé friend roommate deadline date day time hour start end status
    state priority budget price cost goal target limit threshold version release language
    framework database provider editor browser shell currency model port url branch domain
    region format colour color size mascot logo capital theme headquarters quota schedule
    password host runtime license licence mode level chef adresse telefonnummer nummer beruf
    frist termin status sprache hauptstadt
    """
)
#: What begins an attribute with one value, whatever its head.
BEGINNERS = (
    "favourite ", "favorite ", "preferred ", "default ", "current ", "best ", "main ", "primary ",
    "lieblings",
)  # fmt: skip
#: States of which one holds, by what they are about.
STATUSES: dict[str, frozenset[str]] = {
    "marital": frozenset({"single", "married", "divorced", "engaged", "widowed", "ledig",
                          "verheiratet", "geschieden"}),
    "diet": frozenset({"vegetarian", "a vegetarian", "vegan", "a vegan", "pescatarian",
                       "a pescatarian", "vegetarisch", "vegetarier", "veganer"}),
}  # fmt: skip
PRONOUNS = word_set(
    """
    he she it they this that these those here there who what er sie es das dies man
    """
)
#: Words that name nothing: a residence that begins with one is a kind of place, not a place.
GENERIC = word_set(
    """
    a an the my our his her their its some home house flat apartment night nights weekends
    present once eine einer einem ein der die das dem den
    """
)
#: What is said of the time and the manner, wherever it stands.
FILLERS = re.compile(
    r"(?<= )(?:now|currently|presently|nowadays|just|recently|already|actually|still|really|usually"
    r"|always|finally|instead|officially|jetzt|nun|inzwischen|gerade|seit kurzem)(?= )"
)
#: What a sentence may end with beside the value.
TRAILING = re.compile(
    r" (?:these days|at the moment|any ?more|from now on|as of (?:now|today|\w+)"
    r"|(?:since|because)\b.*"
    r"|last (?:week|month|year|summer|winter|spring|autumn)|this (?:week|month|year)"
    r"|(?:two|three|a few|\d+) (?:days|weeks|months|years) ago|(?:with my|together with)\b.*"
    r"|in (?:19|20)\d\d) $"
)
#: Of a residence: a town in one of these is no other residence.
COUNTRIES = word_set(
    """
    africa america asia europe oceania eu uk usa us states kingdom germany deutschland
    austria switzerland france spain portugal italy greece netherlands belgium luxembourg
    denmark sweden norway finland iceland ireland england scotland wales poland czechia
    slovakia hungary romania bulgaria serbia croatia slovenia ukraine russia turkey israel
    egypt morocco nigeria kenya ghana ethiopia canada mexico brazil argentina chile colombia
    peru china japan korea india pakistan bangladesh indonesia malaysia singapore thailand
    vietnam philippines taiwan australia zealand california texas bavaria bayern saxony
    sachsen hesse hessen catalonia
    """
)
