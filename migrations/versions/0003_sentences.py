"""Sentence vectors for late interaction.

As ragpg.embedding_<id>, the table ragpg.sentence_<id> of an embedding space is made by a function
when it is first needed: ragpg.create_sentence_space.
"""

from ragpg.migrate import run_sql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

DOWNGRADE = """
do $$
declare
  space integer;
begin
  for space in select embedding_space.id from ragpg.embedding_space loop
    execute format('drop table if exists ragpg.sentence_%s', space);
  end loop;
end $$;
"""


def upgrade() -> None:
    """Nothing: a space without sentences has no table for them."""


def downgrade() -> None:
    run_sql(DOWNGRADE)
