"""What can be seen of a call from outside: its stages as spans and log events, and what it cost."""
