"""Imported by every Python that a test starts, through PYTHONPATH: closes the network there too."""

import network_guard

network_guard.install()
