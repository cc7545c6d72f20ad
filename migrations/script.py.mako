"""${message}

Functions, views, triggers, comments and grants are files in sql/; here is state only.
"""

from ragpg.migrate import run_sql

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}

UPGRADE = """
${upgrades if upgrades else ""}
"""

DOWNGRADE = """
${downgrades if downgrades else ""}
"""


def upgrade() -> None:
    run_sql(UPGRADE)


def downgrade() -> None:
    run_sql(DOWNGRADE)
