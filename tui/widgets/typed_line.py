"""A line to type in."""

from textual import events
from textual.widgets import Input


class TypedLine(Input):
    """An input that takes Enter when it is its turn, however fast keys come, and as the end of a pasted line too."""

    async def on_key(self, event: events.Key) -> None:
        """Not left to the binding, which is looked up only after the next key may have come."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.action_submit()

    def on_paste(self, event: events.Paste) -> None:
        """Textual inserts the first line; what ends it is done after that."""
        if event.text.endswith(("\n", "\r")):
            self.call_later(self.action_submit)
