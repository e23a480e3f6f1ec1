"""The look of each kind: its own shape and its own colour, so that either is enough to tell two kinds apart.

Fills are tints of Okabe and Ito's palette, which is safe for all common kinds of colour blindness, with borders of the
same hue dark enough to be seen on white.
"""

from typing import Final, NamedTuple

from inspect_compile.diagrams.picture import ArrowKind, BoxKind

FONT: Final = "Helvetica,Arial,sans-serif"
"""A list for the SVG's reader. `dot` measures with the first that it finds; all three are as wide."""

INK: Final = "#1f2933"
FAINT: Final = "#3e4c59"
"""Of small text. Its contrast is 4.9 on the darkest fill, "hottest", and more elsewhere; WCAG asks for 4.5."""
PAPER: Final = "#ffffff"
DARK: Final = "@media(prefers-color-scheme:dark){svg{filter:invert(.88) hue-rotate(180deg)}}"
"""A rule of style: on a dark page a picture is dark, with the same hues."""


class Look(NamedTuple):
    """The look of a box: DOT's shape and style, colours, and its text in the legend."""

    shape: str
    style: str
    fill: str
    line: str
    meaning: str
    extra: tuple[tuple[str, str], ...] = ()
    slant: float = 0
    """Points that the slanted sides take in a shape that `dot` would make twice as large as its text."""


LOOKS: Final[dict[BoxKind, Look]] = {
    "pointwise": Look("box", "filled,rounded", "#d9ecf9", "#0072b2", "each element on its own"),
    "reduction": Look(
        "polygon",
        "filled",
        "#fbe3c0",
        "#b56a00",
        "many elements into one",
        (("sides", "4"), ("distortion", ".2")),
        slant=21,
    ),
    "extern": Look("box3d", "filled", "#e4dcf1", "#5b3f8c", "calls an existing kernel", (("margin", "0.15,0.1"),)),
    "template": Look("component", "filled", "#cdeee1", "#00785a", "hand-written, filled in"),
    "foreach": Look("folder", "filled", "#f6f1bb", "#8a7a00", "one operation on many tensors"),
    "fused": Look("box", "filled,rounded", "#e8edf1", "#56636f", "operations fused into one", (("peripheries", "2"),)),
    "module": Look("tab", "filled", "#eef3f6", "#1f2933", "several, of one module"),
    "item": Look("box", "filled,dashed", "#ffffff", "#5b3f8c", "one result of a call"),
    "nop": Look("box", "filled,dotted", "#ffffff", "#56636f", "needs no code"),
    "other": Look("octagon", "filled", "#eeeeee", "#56636f", "operation of another kind"),
    "input": Look("ellipse", "filled", "#ffffff", "#1f2933", "passed in", slant=16),
    "output": Look("ellipse", "filled", "#fbdce9", "#a8336f", "", (("peripheries", "2"),), slant=7),
    "elsewhere": Look("plain", "", "#ffffff", "#5f6b76", "drawn elsewhere"),
    "shade": Look("box", "filled", "#ffffff", "#5f6b76", ""),
    "operator": Look("box", "filled,rounded", "#d9ecf9", "#0072b2", "calls an operator"),
    "heavy": Look("box3d", "filled", "#e4dcf1", "#5b3f8c", "matmul, convolution, attention", (("margin", "0.15,0.1"),)),
    "load": Look("box", "filled", "#eef3f6", "#1f2933", "reads memory"),
    "store": Look("note", "filled", "#fbdce9", "#a8336f", "writes memory"),
    "line": Look("note", "filled", "#f6f1bb", "#8a7a00", "a line of the program"),
    "node": Look("box", "filled,rounded", "#d9ecf9", "#0072b2", "an FX node"),
    "asked": Look("box", "filled,rounded", "#a9d5f2", "#004c78", "what you asked for", (("penwidth", "2.6"),)),
    "buffer": Look("cylinder", "filled", "#eef3f6", "#1f2933", "memory", (("margin", "0.12,0.1"),)),
    "kernel": Look("component", "filled", "#cdeee1", "#00785a", "a kernel"),
    "launch": Look("box", "filled", "#fbdce9", "#a8336f", "a call of it"),
    "compile": Look("box", "filled,rounded", "#d9ecf9", "#0072b2", "one compile of a function"),
    "stop": Look("box", "filled", "#fbe0da", "#c8102e", "ends a graph"),
    "nothing": Look("box", "filled,dotted", "#ffffff", "#56636f", "not compiled"),
}

SHADES: Final = {
    "hottest": ("#f6b3a2", "#a8200d"),
    "hot": ("#fbe3c0", "#b56a00"),
    "mild": ("#d9ecf9", "#0072b2"),
    "cool": ("#cdeee1", "#00785a"),
    "coldest": ("#eef1ee", "#56636f"),
    "unknown": ("#ffffff", "#8795a1"),
}
"""Fill and border of what was measured, the worst first."""

FRAMES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "kernel": (("style", "filled,rounded"), ("fillcolor", "#f3f5f7"), ("color", "#8795a1"), ("penwidth", "1.2")),
    "group": (("style", "filled,rounded,dashed"), ("fillcolor", "#fafbfc"), ("color", "#9aa7b2")),
    "repeat": (("style", "filled,rounded"), ("fillcolor", "#f7f4fa"), ("color", "#7a5195"), ("penwidth", "1.6")),
    "graph": (("style", "filled,rounded"), ("fillcolor", "#fffdf5"), ("color", "#c9a227"), ("penwidth", "1.4")),
    "loop": (("style", "filled,rounded"), ("fillcolor", "#f3f5f7"), ("color", "#8795a1"), ("penwidth", "1.2")),
    "function": (("style", "filled,rounded"), ("fillcolor", "#fffdf5"), ("color", "#c9a227"), ("penwidth", "1.4")),
}

ARROWS: Final[dict[ArrowKind, tuple[tuple[str, str], ...]]] = {
    "stored": (("color", "#3e4c59"), ("fontcolor", "#3e4c59")),
    "kept": (("color", "#7b8794"), ("fontcolor", "#7b8794"), ("style", "dotted"), ("arrowhead", "vee")),
    "order": (("color", "#7b8794"), ("fontcolor", "#7b8794"), ("style", "dashed"), ("arrowhead", "empty")),
    "call": (("color", "#c9a227"), ("fontcolor", "#7a6100"), ("style", "dashed"), ("arrowhead", "diamond")),
    "again": (("color", "#7a5195"), ("fontcolor", "#7a5195"), ("style", "dashed"), ("constraint", "false")),
    "refused": (("color", "#c8102e"), ("fontcolor", "#c8102e"), ("style", "dashed"), ("dir", "none")),
    "missed": (
        ("color", "#c8102e"),
        ("fontcolor", "#c8102e"),
        ("style", "dashed"),
        ("dir", "none"),
        ("penwidth", "2"),
    ),
    "apart": (("color", "#b56a00"), ("fontcolor", "#8a5200"), ("style", "dashed"), ("dir", "none")),
    "joined": (
        ("color", "#00785a"),
        ("fontcolor", "#00785a"),
        ("penwidth", "2.4"),
        ("dir", "both"),
        ("arrowtail", "dot"),
        ("arrowhead", "dot"),
    ),
    "value": (("color", "#3e4c59"), ("fontcolor", "#3e4c59")),
    "memory": (("color", "#a8336f"), ("fontcolor", "#a8336f"), ("style", "dashed")),
    "made": (("color", "#3e4c59"), ("fontcolor", "#5f6b76")),
    "break": (("color", "#c8102e"), ("fontcolor", "#c8102e"), ("penwidth", "1.8")),
    "recompile": (("color", "#b56a00"), ("fontcolor", "#8a5200"), ("style", "dashed"), ("penwidth", "1.8")),
    "frame": (("color", "#7b8794"), ("fontcolor", "#5f6b76"), ("style", "dotted")),
}

THINNEST: Final = 0.9
THICKEST: Final = 3.6
"""Widths of arrows in points: the most bytes of a picture get the widest."""
LEAST_BYTES: Final = 100_000
"""In a picture with fewer bytes no arrow is thick."""
