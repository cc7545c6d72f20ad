"""The learning loop: what was shown, what of it was followed, and what follows from that."""
