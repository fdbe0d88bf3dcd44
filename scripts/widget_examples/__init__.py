"""Examples of the session's widgets, a module for each: `demo()` returns the widget."""
