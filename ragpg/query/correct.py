"""A second attempt for a weak result: the query without what people say around it.

A search whose confidence is low (ragpg.query.confidence) is run once more with this probe beside
the query and with wider arms; both attempts join one fusion, so a good first hit is not lost.
"""

from __future__ import annotations

from ragpg.query.clauses import content_terms, language_of, topic_words
from ragpg.query.probes import Probe
from ragpg.words import fold, stem

WEIGHT = 0.1
#: The second attempt looks so much further down in every arm.
WIDER = 2
_LONGEST = 4000

#: What conversations are made of and documents seldom are about, as stems.
_SMALL_TALK = """
    hi hello hey dear thanks thank please pls help helping wondering wonder know knows tell explain
    show describe give want wanted wants need needs like looking look question questions ask asking
    asked understand figure trying try anyone someone somebody anybody everyone everybody guys maybe
    actually basically really kind sort possible possibly idea information info detail details
    advance appreciate appreciated curious sorry quick something anything thing things let lets im
    ive id dont doesnt get got able make sure find finding read heard hear
    hallo bitte danke bonjour merci salut hola gracias favor ciao grazie ola obrigado bedankt
    alsjeblieft
"""
_TALK = frozenset(stem(word) for word in _SMALL_TALK.split())


def corrective_probe(query: str, *, weight: float = WEIGHT) -> Probe | None:
    """The content of a query alone, as the probe "corrective", or None where that is all there is.

    Function words and small talk go, in the language of the query; words are kept as written.
    """
    text = query[:_LONGEST]
    language = language_of(text)
    topics = topic_words(text, language)
    kept = [word for word in topics if stem(fold(word).replace("'", "")) not in _TALK]
    if not kept:
        kept = topics
    stripped = " ".join(kept)
    if not content_terms(stripped, language) or len(kept) >= len(text.split()):
        return None
    return Probe(name="corrective", query=stripped, weight=weight)
