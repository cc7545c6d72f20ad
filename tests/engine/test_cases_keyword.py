"""Faults reported of keyword search elsewhere, as cases that must pass here."""

from __future__ import annotations

import random
import string
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .engine import Engine

SIGNING = {"d1": "Rotate the signing key every 90 days."}


@pytest.mark.smoke
@pytest.mark.case("KW-01")
def test_any_text_is_a_legal_query_kw_01(engine: Engine) -> None:
    engine.add({"d1": "The cache does not expire foo entries; the bar setting does."})
    queries = [
        "don't & (foo | \"bar",
        "what's the cache's TTL?",
        "owner:foo",
        "foo:*",
        "!foo",
        "foo & | bar",
        "((((",
        "\\",
        "\":'*",
        "<->",
        "foo <2> bar",
        "a\tb\nc",
    ]
    found = {query: engine.keyword(query) for query in queries}
    assert found[queries[0]] == ["d1"]
    assert found["(((("] == []
    rng = random.Random(1)
    for _ in range(150):
        engine.keyword("".join(rng.choices(string.printable + "é漢字'\"\\$&|!:*<>()", k=30)))
    assert engine.value("select count(*) from ragpg.document") == 1


@pytest.mark.case("KW-02")
def test_a_pasted_mail_address_is_found_kw_02(engine: Engine) -> None:
    engine.add(
        {
            "d1": "Escalations go to Support Desk, support@example.com, phone 555-0100.",
            "d2": "Nothing of interest.",
        }
    )
    for query in ["Support Desk <support@example.com>", "support@example.com"]:
        assert engine.keyword(query) == ["d1"]
    for query in ["mailto:support@example.com", "example.com"]:
        engine.keyword(query)


@pytest.mark.case("KW-03")
def test_no_term_is_required_kw_03(engine: Engine) -> None:
    engine.add(SIGNING | {"d2": "The office plants are watered on Mondays.", "d3": "A signing."})
    query = "please could you kindly tell me how often the signing key must be rotated"
    found = engine.keyword(query)
    assert found[0] == "d1"
    assert found.index("d1") < found.index("d3")


@pytest.mark.case("KW-04")
def test_a_dash_does_not_exclude_kw_04(engine: Engine) -> None:
    engine.add({"d1": "Use gcc -O2 for release builds.", "d2": "gcc accepts many flags."})
    assert engine.keyword("gcc -O2 flags")[0] == "d1"
    assert engine.keyword("what does -O2 do")[0] == "d1"
    engine.add({"d3": "The danger of rm -rf is real.", "d4": "It has a --dry-run option."})
    assert engine.keyword("rm -rf danger")[0] == "d3"
    assert engine.keyword("--dry-run option")[0] == "d4"


@pytest.mark.case("KW-05")
def test_file_names_are_found_by_stem_kw_05(engine: Engine) -> None:
    engine.add(
        {"d1": "The diagram is in topology.png beside nginx.conf; see /etc/nginx/nginx.conf."}
    )
    for query in ["topology", "topology.png", "nginx.conf", "nginx"]:
        assert engine.keyword(query) == ["d1"], query


@pytest.mark.case("KW-06")
def test_identifiers_match_whole_and_in_part_kw_06(engine: Engine) -> None:
    engine.add(
        {
            "d1": "Call foo_bar.baz() before get_user_by_id.",
            "d2": "The user can get a page by scrolling; the id is shown.",
        }
    )
    for query in ["foo_bar.baz()", "foo_bar", "baz", "get_user_by_id"]:
        assert engine.keyword(query)[0] == "d1", query


@pytest.mark.case("KW-07")
def test_advisories_versions_and_part_numbers_kw_07(engine: Engine) -> None:
    engine.add(
        {
            "d1": "CVE-2024-3094 affects xz 5.6.0 and 5.6.1.",
            "d2": "CVE-2024-9999 affects another tool.",
            "d3": "Order part TX-1234 and a t-shirt.",
        }
    )
    for query in ["CVE-2024-3094", "cve 2024 3094", "5.6.1"]:
        assert engine.keyword(query)[0] == "d1", query
    for query in ["TX-1234", "t-shirt"]:
        assert engine.keyword(query)[0] == "d3", query


@pytest.mark.case("KW-08")
def test_scripts_without_blanks_kw_08(engine: Engine) -> None:
    engine.add(
        {
            "d1": "数据库备份每天凌晨两点运行。",
            "d2": "バックアップは毎晩実行されます。",
            "d3": "백업을 매일 실행합니다.",
        }
    )
    for query, source in [("备份", "d1"), ("数据库", "d1"), ("バックアップ", "d2"), ("백업", "d3")]:
        assert engine.keyword(query)[0] == source, query


@pytest.mark.case("KW-09")
def test_accents_do_not_matter_kw_09(engine: Engine) -> None:
    engine.add({"d1": "Le résumé naïve du café.", "d2": "Die Hauptstraße ist gesperrt."})
    for query, source in [
        ("resume", "d1"),
        ("résumé", "d1"),
        ("naive cafe", "d1"),
        ("hauptstrasse", "d2"),
    ]:
        assert engine.keyword(query) == [source], query
    assert engine.hits("resume")[0]["content"] == "Le résumé naïve du café."


@pytest.mark.case("KW-10")
def test_ligatures_and_soft_hyphens_kw_10(engine: Engine) -> None:
    engine.add(
        {
            "d1": "The \ufb01rst classi\ufb01cation is su\ufb03cient.",
            "d2": "Donau\u00ad\ndampfer und Wasser\u00adkraft",
        }
    )
    for query, source in [
        ("first classification", "d1"),
        ("sufficient", "d1"),
        ("Donaudampfer", "d2"),
        ("Wasserkraft", "d2"),
    ]:
        assert engine.keyword(query) == [source], query


@pytest.mark.case("KW-11")
def test_a_huge_passage_is_stored_and_found_kw_11(engine: Engine) -> None:
    rng = random.Random(7)
    words = ["".join(rng.choices(string.ascii_lowercase, k=7)) for _ in range(200_000)]
    engine.add({"huge": " ".join(words), "other": "A small neighbour."})
    assert engine.keyword(" ".join(words[:2])) == ["huge"]
    assert engine.keyword("neighbour") == ["other"]


@pytest.mark.case("KW-12")
def test_percent_signs_are_plain_text_kw_12(engine: Engine) -> None:
    engine.add({"d1": "Discount is 15% for schools; format %s and 100%(sic).", "d2": "axb yc"})
    assert engine.keyword("15% for schools") == ["d1"]
    for query in ["%s", "100%", "%(x)s", "a%b_c", "%"]:
        assert "d2" not in engine.keyword(query), query


@pytest.mark.case("KW-13")
def test_a_word_in_every_row_stays_fast_kw_13(engine: Engine) -> None:
    rows = 20_000
    documents = {f"d{number:05d}": "The yearly report." for number in range(rows)}
    rare = random.Random(3).sample(sorted(documents), 20)
    documents |= dict.fromkeys(rare, "The turbine report.")
    engine.add(documents)
    for query in ["report", "turbine report", "the report of the report"]:
        began = time.perf_counter()
        found = engine.keyword(query, k=20)
        assert time.perf_counter() - began < 10, query
        assert len(found) == 20
    assert set(engine.keyword("turbine report", k=20)) == set(rare)
    # Whatever caps the candidates of a word in every row, it is not where the rows lie.
    found = engine.keyword("report", k=50)
    engine.connection.execute(
        "update ragpg.chunk_keyword set length = length where chunk_id % 3 = 0"
    )
    engine.connection.execute("vacuum full analyze ragpg.chunk_keyword")
    assert engine.keyword("report", k=50) == found


@pytest.mark.case("KW-14")
def test_language_names_keep_their_punctuation_kw_14(engine: Engine) -> None:
    engine.add(
        {
            "d1": "We write C++ services.",
            "d2": "We write C# services.",
            "d3": "Vitamin C is a vitamin.",
            "d4": "The .NET runtime and F# scripts.",
        }
    )
    for query, source in [("C++", "d1"), ("C#", "d2"), (".NET", "d4"), ("F#", "d4")]:
        assert engine.keyword(query)[0] == source, query
