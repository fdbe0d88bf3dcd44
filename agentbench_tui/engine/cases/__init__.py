"""The cases of a benchmark: records, mapping, spool, dialogues."""
