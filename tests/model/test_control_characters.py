"""Which characters no terminal and no reader gets to see as they are."""

import unicodedata

from agentbench_tui.model.text.control_characters import visible


def test_every_control_character_of_unicode_is_escaped_and_no_other_but_direction() -> None:
    steering = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}
    for code in range(0x110000):
        character = chr(code)
        unsafe = unicodedata.category(character) in {"Cc", "Cs"} or code in steering
        assert (visible(character) != character) == (unsafe and character not in "\n\t"), hex(code)
