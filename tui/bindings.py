"""The list of actions as bindings of textual."""

from textual.binding import Binding, BindingType

from inspect_compile.tui.keys.actions import Action, Owner, bound


def binding(action: Action) -> Binding:
    """The binding of one action."""
    return Binding(action.keys, action.does, action.title, show=False)


def bindings(owner: Owner) -> list[BindingType]:
    """What `owner` binds. A key that asks for text also has a binding of the screen's that comes before the focused
    list: else text that comes together with the key, as over ssh, would reach the list.
    """
    first = [
        Binding(action.keys, f"ask('{action.does}')", show=False, priority=True)
        for action in bound(owner)
        if action.asks
    ]
    return [*first, *(binding(action) for action in bound(owner))]
