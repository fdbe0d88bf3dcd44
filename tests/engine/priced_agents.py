"""Agents in Python that answer a number with a known chance of being right, at a known price.

Cases are those of `carried_out.suite(60)`: prompt and right answer are the numbers 0 to 59.
dear and cheap are right on 57 of 60 and differ on four, two each way. poor and worst are right on
15.
"""

PRICED_AGENTS = """
from agentbench_tui.model.answer import Answer
def said(prompt, right, usd):
    return Answer(prompt if right else "?", cost_usd=usd)
def dear(prompt):
    return said(prompt, int(prompt) >= 3, 0.004)
def cheap(prompt):
    return said(prompt, int(prompt) % 59 != 0 and prompt != "7", 0.001 + 0.00001 * int(prompt))
def poor(prompt):
    return said(prompt, int(prompt) % 4 == 0, 0.0005)
def worst(prompt):
    return said(prompt, int(prompt) % 4 == 0, 0.0045)
def half(prompt):
    return said(prompt, int(prompt) % 2 == 0, 0.001)
def often(prompt):
    return said(prompt, True, 0.004)
def free(prompt):
    return Answer("?")
def mute(prompt):
    raise ValueError("no")
"""
MEAN_COST_OF_CHEAP = 0.001 + 0.00001 * 59 / 2
"""In US dollars a task."""
