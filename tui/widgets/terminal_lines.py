"""The program's terminal: a list that follows its end, and passes keys on while the user types."""

from typing import Final

from textual import events
from textual.message import Message

from inspect_compile.tui.widgets.lines import Lines

KEYS: Final = {
    "enter": b"\r",
    "backspace": b"\x7f",
    "tab": b"\t",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "delete": b"\x1b[3~",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
}
"""Key → what a terminal sends for it."""


class TerminalLines(Lines):
    """Lines that a program prints. Enter begins typing to it, Escape ends it."""

    class Typed(Message):
        """Keys for the program."""

        def __init__(self, keys: bytes) -> None:
            super().__init__()
            self.keys = keys

    class Sized(Message):
        """The size of the available space has changed."""

        def __init__(self, rows: int, columns: int) -> None:
            super().__init__()
            self.rows = rows
            self.columns = columns

    class Typing(Message):
        """The user began or ended typing to the program."""

    is_typing = False

    def release(self) -> None:
        """The program has ended: keys belong to the app again."""
        self.takes_keys = False
        self._set_typing(False)

    def follow(self) -> None:
        """Draw new output; stay at the end if the cursor was there."""
        at_end = self.cursor >= self._length - 1
        self.show(self.whole)
        self._length = len(self.sheet)
        if at_end:
            self.cursor = max(0, self._length - 1)
            self.reveal()

    _length = 0

    def on_key(self, event: events.Key) -> None:
        """Enter begins typing; then every key except Escape goes to the program."""
        if not self.is_typing:
            # Not left to the binding, which is looked up only after the next key may have come.
            if event.key == "enter" and self.takes_keys:
                event.stop()
                event.prevent_default()
                self._set_typing(True)
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self._set_typing(False)
            return
        keys = typed(event.key, event.character)
        if keys:
            self.post_message(self.Typed(keys))

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is typed."""
        if self.is_typing:
            event.stop()
            self.post_message(self.Typed(event.text.encode()))

    def on_blur(self) -> None:
        """The focus went elsewhere."""
        self._set_typing(False)

    def on_resize(self) -> None:
        """Report the available space."""
        region = self.scrollable_content_region
        self.post_message(self.Sized(max(1, region.height), max(1, region.width - 2)))

    def _set_typing(self, on: bool) -> None:
        if on != self.is_typing:
            self.is_typing = on
            self.set_class(on, "typing")
            self.post_message(self.Typing())


def typed(key: str, character: str | None) -> bytes:
    """What a terminal sends for a key; empty for an unknown key."""
    if key in KEYS:
        return KEYS[key]
    if key.startswith("ctrl+") and len(key) == 6 and "a" <= key[5] <= "z":
        return bytes([ord(key[5]) - 96])
    return character.encode() if character is not None else b""
