"""Random Cypher through ragpg.cypher(), to see whether any of it ends a server process of AGE.

    python benchmarks/cypher_fuzz.py DSN [--queries 5000] [--seed 1]

DSN is a database that nobody else uses, on a server that nobody else uses: where the check misses a
shape, the server restarts. Prints such queries, then how the others ended; exits with 1 when there
were any.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from typing import Any

import psycopg

from ragpg import migrate

FUNCTIONS = re.findall(
    r"\w+",
    """abs acos asin atan atan2 avg ceil coalesce collect cos cot count degrees e endNode exists exp
    floor head id end_id start_id keys label labels last left length log log10 ltrim max min nodes
    percentileCont percentileDisc pi properties radians relationships replace reverse right round
    rtrim sign sin size split sqrt startNode stDev stDevP substring sum tail tan toBoolean toFloat
    toInteger toLower toString toUpper trim type""",
)
VERTICES = ("Document", "Chunk", "Entity", "Community", "Nobody")
EDGES = ("PART_OF", "NEXT", "LINKS", "MENTIONS", "ABOUT", "RELATED", "SHARES", "IN_COMMUNITY", "NO")
VALUES = ("1", "0", "-3", "2.5", "true", "null", "'x'", '"q\\"y"', "[]", "[1,2,3]", "['a',null,2.5]",
          "{}", "{a: 1, b: [1,{c: null}]}", "$p", "$l", "$m", "$s", "1e308", "9223372036854775807",
          "$ids")  # fmt: skip
SIGNS = re.findall(r"[A-Z]+(?: WITH)?|\S+", "+ - * / % ^ = <> < > <= >= AND OR XOR IN CONTAINS =~")
SIGNS += ["STARTS WITH", "ENDS WITH"]
KEYS = ("id", "source", "name", "title", "metadata", "weight", "kind", "nope")


class Author:
    """Writes queries that are mostly wrong and always hostile."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.names: list[str] = []

    def query(self) -> str:
        """One query."""
        self.names = []
        text = "".join(self._clause() for _ in range(self.dice.choice([1, 1, 2, 2, 3])))
        columns = ", ".join(
            f"{self._value(self.dice.choice([0, 1, 3]))} AS c{at}"
            for at in range(self.dice.choice([1, 1, 2]))
        )
        text += f"RETURN {self.dice.choice(['', 'DISTINCT '])}{columns}"
        text += self.dice.choice(["", " ORDER BY c0 DESC"]) + self.dice.choice(["", " LIMIT 5"])
        return text + (f" UNION {self.query()}" if self.dice.random() < 0.05 else "")

    def _clause(self) -> str:
        luck = self.dice.random()
        if luck < 0.6:
            patterns = ", ".join(self._pattern() for _ in range(self.dice.choice([1, 1, 2])))
            text = f"{self.dice.choice(['MATCH', 'MATCH', 'OPTIONAL MATCH'])} {patterns} "
        elif luck < 0.75 or not self.names:
            name = self._new()
            text = f"UNWIND {self._value(1)} AS {name} "
            self.names.append(name)
            return text
        else:
            kept = [name for name in self.names if self.dice.random() < 0.6]
            name = f"w{self.dice.randrange(99)}"
            text = f"WITH {', '.join([*kept, f'{self._value(1)} AS {name}'])} "
            self.names = [*kept, name]
        return text + (f"WHERE {self._value(0)} " if self.dice.random() < 0.5 else "")

    def _new(self) -> str:
        return f"v{len(self.names)}"

    def _pattern(self, *, binds: bool = True) -> str:
        text = self._node(binds)
        for _ in range(self.dice.choice([0, 0, 1, 1, 2])):
            text += self._edge(binds) + self._node(binds)
        if binds and self.dice.random() < 0.15:
            name = self._new()
            self.names.append(name)
            return f"{name}={text}"
        return text

    def _node(self, binds: bool) -> str:
        name = ""
        if self.names and (self.dice.random() < 0.4 or not binds):
            name = self.dice.choice(self.names)
        elif binds and self.dice.random() < 0.85:
            name = self._new()
            self.names.append(name)
        label = f":{self.dice.choice(VERTICES)}" if self.dice.random() < 0.5 else ""
        return f"({name}{label}{self._map(0.15)})"

    def _edge(self, binds: bool) -> str:
        begin, end = self.dice.choice([("-", "->"), ("<-", "-"), ("-", "-")])
        name = ""
        if binds and self.dice.random() < 0.4:
            name = self._new()
            self.names.append(name)
        label = f":{self.dice.choice(EDGES)}" if self.dice.random() < 0.6 else ""
        steps = self.dice.choice(["1", "1..2", "..2", "2", "3..3"])
        walk = f"*{steps}" if self.dice.random() < 0.2 else ""
        return f"{begin}[{name}{label}{walk}{self._map(0.1)}]{end}"

    def _map(self, chance: float) -> str:
        if self.dice.random() >= chance:
            return ""
        return f" {{{self.dice.choice(KEYS)}: {self._value(3)}}}"

    def _value(self, depth: int) -> str:
        luck, more = self.dice.random(), depth + 1
        if depth > 3 or luck < 0.2:
            return self.dice.choice(VALUES)
        if luck < 0.5 and self.names:
            name = self.dice.choice(self.names)
            return name if luck < 0.35 else f"{name}.{self.dice.choice(KEYS)}"
        if luck < 0.68:
            count = self.dice.choice([0, 1, 1, 1, 1, 2, 2, 3])
            given = ", ".join(self._value(more) for _ in range(count))
            return f"{self.dice.choice(FUNCTIONS)}({given})"
        if luck < 0.8:
            return f"({self._value(more)} {self.dice.choice(SIGNS)} {self._value(more)})"
        forms = (
            lambda: f"NOT {self._value(more)}",
            lambda: f"{self._value(more)}[{self._value(more)}]",
            lambda: f"{self._value(more)}[{self._value(more)}..{self._value(more)}]",
            lambda: f"[x IN {self._value(more)} WHERE {self._value(more)} | {self._value(more)}]",
            lambda: f"CASE WHEN {self._value(more)} THEN {self._value(more)} ELSE 1 END",
            lambda: f"{self.dice.choice(['all', 'any'])}(x IN {self._value(more)} WHERE x = 1)",
            lambda: f"{self._value(more)} IS {self.dice.choice(['', 'NOT '])}NULL",
            lambda: f"{{a: {self._value(more)}}}",
            lambda: f"exists({self._pattern(binds=False)})",
            lambda: f"EXISTS {{ MATCH {self._pattern(binds=False)} RETURN 1 }}",
            lambda: f"{self._value(more)}::{self.dice.choice(['int', 'float', 'numeric', 'bool'])}",
        )
        return self.dice.choice(forms)()


#: A row of everything, so that every label has something to fail on.
ROWS = """
select ragpg.drop_namespace('fuzz'), ragpg.create_namespace('fuzz');
insert into ragpg.document (namespace_id, source, title)
select id, 'd' || n, 't' || n from ragpg.namespace, generate_series(1, 6) as n where name = 'fuzz';
insert into ragpg.chunk (namespace_id, document_id, ordinal, content, content_hash)
select namespace_id, id, n, 'c', '' from ragpg.document, generate_series(0, 2) as n;
insert into ragpg.entity (namespace_id, key, name)
select id, 'e' || n, 'E' || n from ragpg.namespace, generate_series(1, 8) as n where name = 'fuzz';
insert into ragpg.mention (namespace_id, chunk_id, entity_id)
select chunk.namespace_id, chunk.id, entity.id from ragpg.chunk join ragpg.entity using (namespace_id)
 where (chunk.id + entity.id) % 4 = 0 on conflict do nothing;
insert into ragpg.topic (namespace_id, document_id, entity_id)
select namespace_id, document.id, entity.id from ragpg.document join ragpg.entity using (namespace_id)
 where (document.id + entity.id) % 5 = 0 on conflict do nothing;
insert into ragpg.relation (namespace_id, source, target, kind, chunk_id)
select one.namespace_id, one.id, other.id, 'uses', (select min(id) from ragpg.chunk)
  from ragpg.entity as one join ragpg.entity as other on other.id = one.id + 1;
insert into ragpg.link (namespace_id, document_id, target, anchor, target_id, matches)
select one.namespace_id, one.id, other.source, '', other.id, 1
  from ragpg.document as one join ragpg.document as other on other.id = one.id + 1;
insert into ragpg.edge (namespace_id, source, target, kind, weight)
select one.namespace_id, one.id, other.id, 'terms', 1
  from ragpg.document as one join ragpg.document as other on other.id = one.id + 1;
insert into ragpg.community (namespace_id, name) select id, 'k' from ragpg.namespace where name = 'fuzz';
insert into ragpg.document_rank (namespace_id, document_id, community_id)
select document.namespace_id, document.id, community.id
  from ragpg.document join ragpg.community using (namespace_id);
select * from ragpg.sync_cypher_graph('fuzz')
"""


def main() -> None:
    """Write, run, count."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("dsn")
    arguments.add_argument("--queries", type=int, default=5000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    with psycopg.connect(given.dsn, autocommit=True) as db:
        db.execute("create extension if not exists age")
        migrate.upgrade(given.dsn)
        for statement in ROWS.split(";\n"):
            db.execute(statement.encode())
    db = _connect(given.dsn)
    ids = [
        row[0]["i"]
        for row in db.execute(
            "select * from ragpg.cypher('MATCH (n) RETURN id(n) AS i', namespace => 'fuzz')"
        )
    ]
    values = json.dumps({"p": 3, "l": [1, "a", None], "m": {"a": 1}, "s": "d1", "ids": ids[:4]})
    author, ends = Author(given.seed), Counter[str]()
    for _ in range(given.queries):
        query = author.query()
        try:
            db.execute("select * from ragpg.cypher(%s, %s, 'fuzz')", [query, values]).fetchall()
            ends["answered"] += 1
        except psycopg.Error as error:
            if db.broken:
                ends["ended the server"] += 1
                print(query, flush=True)
                db = _connect(given.dsn)
            else:
                ends["refused" if error.sqlstate == "RG006" else "an error"] += 1
    print(dict(ends))
    sys.exit(1 if ends["ended the server"] else 0)


def _connect(dsn: str) -> psycopg.Connection[Any]:
    """A connection; the server may be on its way up."""
    for attempt in range(60):
        try:
            db = psycopg.connect(dsn, autocommit=True)
            db.execute("set statement_timeout = '1500ms'")
            return db
        except psycopg.OperationalError:
            if attempt == 59:
                raise
            time.sleep(0.5)
    raise AssertionError("unreachable")


if __name__ == "__main__":
    main()
