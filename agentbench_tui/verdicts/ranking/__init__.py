"""Who leads: boards, places, and how sure they are."""
