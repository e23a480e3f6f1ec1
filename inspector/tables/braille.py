"""A small plot of Braille characters: eight dots per cell, each cell in the style of what was last drawn in it."""

from typing import Final

from rich.text import Text

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column of a cell."""


class Canvas:
    """`width` × `height` cells; dots are counted from the top left."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _ in range(height)]
        self._styles = [[""] * width for _ in range(height)]
        self._letters: dict[tuple[int, int], str] = {}

    @property
    def dots(self) -> tuple[int, int]:
        """Number of dots across and down."""
        return 2 * self.width, 4 * self.height

    def dot(self, x: int, y: int, style: str = "") -> None:
        """Draw one dot; dots outside of the canvas are ignored."""
        if 0 <= x < 2 * self.width and 0 <= y < 4 * self.height:
            self._dots[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
            self._styles[y // 4][x // 2] = style

    def line(self, start: tuple[int, int], end: tuple[int, int], style: str = "") -> None:
        """Dots from one to the other."""
        (x0, y0), (x1, y1) = start, end
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            self.dot(round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps), style)

    def letter(self, x: int, y: int, letter: str, style: str = "") -> None:
        """One character in the cell of a dot."""
        column, row = x // 2, y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            self._letters[row, column] = letter
            self._styles[row][column] = style

    def words(self, column: int, row: int, words: str, style: str = "") -> None:
        """Write characters from a cell on, as far as there is room and the cells are empty."""
        for place, letter in enumerate(words):
            if 0 <= column + place < self.width and 0 <= row < self.height:
                if (row, column + place) in self._letters:
                    return
                self.letter(2 * (column + place), 4 * row, letter, style)

    def rows(self) -> list[Text]:
        """The lines, top first."""
        found = []
        for row in range(self.height):
            text = Text(no_wrap=True, overflow="crop")
            for column in range(self.width):
                dots = self._dots[row][column]
                letter = self._letters.get((row, column)) or (chr(0x2800 + dots) if dots else " ")
                text.append(letter, self._styles[row][column])
            found.append(text)
        return found
