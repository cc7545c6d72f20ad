"""What the graph says: links, names, analysis; and when it has nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .engine import Engine

TITLED = {
    "nolan": ("Christopher Nolan", "Christopher Nolan is a British director of films."),
    "prestige": ("The Prestige (film)", "A thriller about rival magicians in London."),
    "kathil": ("Sathish Kalathil", "A director from Kerala who shot with a phone."),
    "memento": ("Memento", "Directed by Christopher Nolan after a story of his brother."),
    "tea": ("Tea", "How to brew a pot of leaves."),
}


def add(engine: Engine, documents: dict[str, tuple[str, str]]) -> None:
    for source, (title, text) in documents.items():
        engine.add({source: text}, title=title)


def why(engine: Engine, query: str, *seeds: str) -> dict[str, str]:
    rows = engine.rows(
        """select source, arms -> 'graph' ->> 'mode' as why from ragpg.graph_search(
             array(select chunk.id from ragpg.chunk join ragpg.document on document.id = document_id
                    where source = any (%s)), query => %s)""",
        list(seeds),
        query,
    )
    return {row["source"]: row["why"] for row in rows}


def test_a_title_named_in_the_question_or_in_a_hit_is_found_with_its_reason(engine: Engine) -> None:
    add(engine, TITLED)
    assert why(engine, "Is Sathish Kalathil a director?") == {
        "kathil": "question names Sathish Kalathil"
    }
    assert why(engine, "", "memento") == {"nolan": "memento names Christopher Nolan"}
    assert why(engine, "", "nolan") == {"memento": "names Christopher Nolan of nolan"}
    # A remark in brackets and the article are no part of the name.
    assert why(engine, "Who wrote the Prestige?") == {
        "prestige": "question names The Prestige (film)"
    }


def test_common_words_are_no_names(engine: Engine) -> None:
    add(engine, TITLED)
    assert why(engine, "how do I make tea and keep a memento?") == {}
    assert why(engine, "", "tea") == {}


def test_the_arm_is_quiet_where_the_graph_has_nothing(engine: Engine) -> None:
    add(engine, {"a": ("", "red apples"), "b": ("", "green pears")})
    report = engine.rows("select * from ragpg.search_report('apples')")
    [graph] = [row for row in report if row["arm"] == "graph"]
    assert (graph["rows"], graph["error"]) == (0, None)


def test_names_rank_above_links_and_links_above_the_rest(engine: Engine) -> None:
    add(engine, TITLED)
    engine.add(
        {"memento": TITLED["memento"][1]},
        title="Memento",
        links={"memento": ["tea"]},
        fingerprint="2",
    )
    seeds = "array(select chunk.id from ragpg.chunk join ragpg.document on document.id = document_id where source = 'memento')"
    rows = engine.rows(f"select rank, mode from ragpg.graph_arm({seeds}, '{{1}}', null, 10)")
    assert [(row["rank"], row["mode"]) for row in rows] == [
        (1, "memento names Christopher Nolan"),
        (202, "memento links here"),
    ]


def test_links_resolve_by_path_and_ambiguous_ones_are_counted(engine: Engine) -> None:
    engine.add(
        {"site/docs/Install.md": "a", "guide/index.html": "b", "x/faq.md": "c", "y/faq.md": "d"}
    )
    aims = ["docs/install", "guide/", "GUIDE", "faq", "nowhere", "Site/Docs/install.html"]
    engine.add({"start.md": "s"}, links={"start.md": aims})
    rows = engine.rows("""
        select target, matches, document.source from ragpg.link
          left join ragpg.document on document.id = target_id order by target""")
    assert {row["target"]: (row["matches"], row["source"]) for row in rows} == {
        "docs/install": (1, "site/docs/Install.md"),
        "guide/": (0, None),
        "GUIDE": (1, "guide/index.html"),
        "faq": (2, None),
        "nowhere": (0, None),
        "Site/Docs/install.html": (1, "site/docs/Install.md"),
    }
    [status] = engine.rows("select resolved, ambiguous from ragpg.graph_status('{default}')")
    assert status == {"resolved": 3, "ambiguous": 1}
    engine.value("select ragpg.delete_documents('default', '{x/faq.md}')")
    assert engine.value("select matches from ragpg.link where target = 'faq'") == 1


def test_an_analysis_ranks_groups_and_ages(engine: Engine) -> None:
    ring = {f"a{n}": [f"a{(n + 1) % 4}", "hub"] for n in range(4)} | {
        f"b{n}": ["b0"] for n in range(1, 4)
    }
    engine.add(
        {**{source: f"text {source}" for source in [*ring, "b0", "hub"]}, "alone": "nothing"},
        links=ring,
    )
    engine.value("select ragpg.analyse_graph('default')")
    ranks = engine.rows("""
        select source, pagerank, community_id from ragpg.document_rank
          join ragpg.document on document.id = document_id order by pagerank desc, source""")
    assert ranks[0]["source"] == "hub"
    assert abs(sum(row["pagerank"] for row in ranks) - 1) < 1e-5
    groups: dict[int, set[str]] = {}
    for row in ranks:
        groups.setdefault(row["community_id"], set()).add(row["source"])
    assert {"b0", "b1", "b2", "b3"} in groups.values()
    assert {"a0", "a1", "a2", "a3", "hub"} in groups.values()
    before = engine.rows("select id, name, digest from ragpg.community order by id")
    engine.value("select ragpg.analyse_graph('default')")
    assert engine.rows("select id, name, digest from ragpg.community order by id") == before
    [fresh] = engine.rows("select changed_since from ragpg.graph_status()")
    assert fresh == {"changed_since": 0}
    engine.value("select ragpg.delete_documents('default', '{b1}')")
    engine.add({"new": "text"})
    [stale] = engine.rows("select changed_since from ragpg.graph_status()")
    assert stale == {"changed_since": 2}


def test_documents_that_share_two_rare_terms_are_joined_once(engine: Engine) -> None:
    texts = {
        "a": "zirconium quark apples",
        "b": "the zirconium of a quark",
        "c": "quark apples",
        "d": "pears",
    }
    engine.add(texts)
    engine.value("select ragpg.analyse_graph('default')")
    pairs = engine.rows("""
        select low.source as low, high.source as high from ragpg.edge
          join ragpg.document as low on low.id = edge.source
          join ragpg.document as high on high.id = edge.target order by 1, 2""")
    assert [tuple(row.values()) for row in pairs] == [("a", "b"), ("a", "c")]


def test_a_walk_stays_near_its_start(engine: Engine) -> None:
    chain = {f"n{n}": [f"n{n + 1}"] for n in range(6)}
    engine.add({**{source: source for source in chain}, "n6": "end"}, links=chain)
    start = engine.value("select id from ragpg.document where source = 'n2'")
    rows = engine.rows(
        """select source from ragpg.personalized_pagerank(1, array[%s::bigint])
             join ragpg.document on document.id = document_id order by rank desc, document.id""",
        start,
    )
    assert rows[0]["source"] == "n2"
    assert {row["source"] for row in rows} <= {"n0", "n1", "n2", "n3", "n4"}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("what is c++?", ["C++"]),
        ("Is (c++) older than pg_dump or at&t's labs?", ["C++", "pg_dump"]),
        ('who saw the "green list"', ['The "green list"']),
        ("`pg_dump`, and refund", ["pg_dump"]),
        ("c and dump and x_pg_dump", []),
        ("🚀", ["🚀"]),
        (" ?! ", []),
    ],
)
def test_names_with_signs_are_heard_in_a_question(
    engine: Engine, question: str, named: list[str]
) -> None:
    engine.value("select ragpg.create_namespace('default')")
    names = ["C++", "pg_dump", "AT&T", 'The "green list"', "Refund", "🚀"]
    engine.rows(
        "select * from ragpg.upsert_entities(1, array(select ragpg.entity_key(name) from unnest(%s::text[]) as name), %s)",
        names,
        names,
    )
    found = engine.rows("select name from ragpg.named_entities(%s, '{1}')", question)
    assert sorted(row["name"] for row in found) == sorted(named)
