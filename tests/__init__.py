"""Tests of ragpg."""
