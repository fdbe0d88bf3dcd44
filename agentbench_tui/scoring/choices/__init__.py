"""Which of lettered choices a text picks."""
