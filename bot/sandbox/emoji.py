"""The reactions the sandbox knows: canonical names, aliases and characters; GitLab has more."""

from __future__ import annotations

_KEYCAPS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

CHARACTERS = {
    "thumbsup": "👍",
    "thumbsdown": "👎",
    "arrow_forward": "▶️",
    "fast_forward": "⏩",
    "pause_button": "⏸️",
    "white_check_mark": "✅",
    "heavy_check_mark": "✔️",
    "ballot_box_with_check": "☑️",
    "x": "❌",
    "negative_squared_cross_mark": "❎",
    "no_entry": "⛔",
    "no_entry_sign": "🚫",
    "question": "❓",
    "exclamation": "❗",
    "eyes": "👀",
    "heart": "❤️",
    "tada": "🎉",
    "rocket": "🚀",
    "clap": "👏",
    "wave": "👋",
    "ok_hand": "👌",
    "raised_hands": "🙌",
    "pray": "🙏",
    "thinking": "🤔",
    "confused": "😕",
    "smile": "😄",
    "laughing": "😆",
    "cry": "😢",
    "hourglass": "⌛",
    "robot": "🤖",
    "bulb": "💡",
    "warning": "⚠️",
    "lock": "🔒",
    "fire": "🔥",
    "100": "💯",
    "a": "🅰️",
    "b": "🅱️",
    "keycap_ten": "🔟",
    **{f"regional_indicator_{chr(97 + n)}": chr(0x1F1E6 + n) for n in range(26)},
    **{name: f"{n}\ufe0f\u20e3" for n, name in enumerate(_KEYCAPS)},
}

_ALIASES = {
    "+1": "thumbsup",
    "thumbup": "thumbsup",
    "-1": "thumbsdown",
    "thumbdown": "thumbsdown",
    "play": "arrow_forward",
    "thinking_face": "thinking",
    "robot_face": "robot",
    "hand_clap": "clap",
}


def canonical(name: str) -> str | None:
    """The canonical name for a name or alias without colons; None if it is not known."""
    name = _ALIASES.get(name, name)
    return name if name in CHARACTERS else None
