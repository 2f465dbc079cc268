"""The commands of `kb`, one module a group: their options, and what they print."""
