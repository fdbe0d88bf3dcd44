"""Finds which of several lettered choices a text picks."""
