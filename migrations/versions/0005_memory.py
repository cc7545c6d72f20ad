"""Memory, feedback and the result cache."""

from ragpg.migrate import run_sql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

UPGRADE = """
select 1;
"""

DOWNGRADE = """
select 1;
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
