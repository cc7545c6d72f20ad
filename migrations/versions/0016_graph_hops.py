"""Searches say how many steps the graph arm goes."""

from ragpg.migrate import run_sql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

UPGRADE = """
-- The manifest makes them anew with other arguments and columns.
drop function if exists ragpg.widen_arms(jsonb, integer);
drop function if exists ragpg.search_plan(jsonb, jsonb);
drop function if exists ragpg.arm_options(jsonb);
drop function if exists ragpg.run_arm(
  text, text, vector, integer[], jsonb, integer, double precision, double precision, regproc,
  bigint[]);
drop function if exists ragpg.graph_paths(bigint[], integer[], text, integer);
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    pass
