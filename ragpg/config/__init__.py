"""One file for everything that a client is made of; see `ragpg.config.read`."""
