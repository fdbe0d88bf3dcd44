"""The screens of the session, one a module."""
