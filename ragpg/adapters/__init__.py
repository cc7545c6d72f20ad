"""Other frameworks on top of ragpg: each module needs the extra of its name, and nothing else."""
