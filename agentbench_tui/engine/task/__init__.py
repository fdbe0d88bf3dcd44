"""The kind `task`: ask every case, score each answer, store it."""
