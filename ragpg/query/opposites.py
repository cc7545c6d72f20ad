"""Pairs of opposites: a claim with one of them against evidence with the other is in conflict.

Pairs with a negation (with/without, always/never) are not here: negation is compared by itself.
Single words, folded; looked up as written and by stem. Extend the list where a pair is missing.
"""

from __future__ import annotations

from ragpg.words import stem

_PAIRS = """
above/below above/under over/under before/after up/down left/right top/bottom north/south east/west
inside/outside
more/less more/fewer most/least higher/lower high/low larger/smaller large/small big/small
longer/shorter long/short faster/slower fast/slow earlier/later early/late older/newer old/new
old/young older/younger stronger/weaker strong/weak better/worse best/worst cheaper/dearer
increase/decrease increase/reduce increase/lower raise/lower rise/fall rose/fell grow/shrink
gain/loss gain/lose win/lose won/lost profit/loss improve/worsen expand/contract
minimum/maximum min/max first/last ascending/descending positive/negative
allow/forbid allow/prohibit allow/deny allow/block permit/forbid permit/prohibit permit/deny
allowed/forbidden permitted/forbidden enable/disable require/optional mandatory/optional
compulsory/voluntary include/exclude accept/reject accept/refuse approve/reject grant/revoke
grant/deny open/close opened/closed start/stop begin/end create/delete add/remove install/uninstall
succeed/fail success/failure pass/fail true/false same/different present/absent
buy/sell bought/sold import/export upload/download encrypt/decrypt lock/unlock read/write
send/receive push/pull lend/borrow hire/fire attach/detach connect/disconnect
public/private internal/external free/paid safe/dangerous legal/illegal temporary/permanent
harmful/harmless useful/useless careful/careless painful/painless powerful/powerless
manual/automatic manually/automatically synchronous/asynchronous active/inactive online/offline
local/remote input/output hot/cold wet/dry morning/evening day/night
activate/inhibit activate/suppress activation/inhibition promote/inhibit promote/prevent
promote/suppress induce/suppress induce/inhibit stimulate/inhibit upregulate/downregulate
enhance/impair enhance/suppress cause/prevent agonist/antagonist benign/malignant acute/chronic
supplier/customer buyer/seller employer/employee landlord/tenant lender/borrower client/server
sender/receiver sender/recipient parent/child teacher/student doctor/patient mother/father
husband/wife male/female men/women man/woman plaintiff/defendant licensor/licensee
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _PAIRS.split():
        one, other = pair.split("/")
        for word, opposite in ((one, other), (other, one)):
            for form in {word, stem(word)}:
                table.setdefault(form, set()).update({opposite, stem(opposite)})
    return {word: frozenset(opposites) for word, opposites in table.items()}


#: Word or stem to its opposites, as words and stems.
OPPOSITES = _table()
