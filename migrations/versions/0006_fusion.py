"""Search takes options of the fusion, and probes: the functions of the old signatures go."""

from ragpg.migrate import run_sql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UPGRADE = """
drop function if exists ragpg.search_report(
  text, vector, text[], jsonb, integer, jsonb, integer, integer);
drop function if exists ragpg.search_run(
  text, vector, text[], jsonb, integer, jsonb, integer, integer);
drop function if exists ragpg.search(
  text, vector, text[], jsonb, integer, jsonb, integer, integer);
drop function if exists ragpg.search_ranked(
  text, vector, text[], jsonb, integer, jsonb, integer, integer);
drop function if exists ragpg.search_arms(
  text, vector, integer[], jsonb, jsonb, integer);
"""

DOWNGRADE = """
select 1;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
