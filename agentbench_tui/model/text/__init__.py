"""Reads untrusted text and files safely."""
