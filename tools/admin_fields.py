"""Form fields of definitions: exact JSON over several lines, and lists of words one a line."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson
from tools.domain.writing import written


class _Typed(str):
    """Text as somebody typed it, told from a stored value that is a text."""

    __slots__ = ()


class ExactJson(forms.CharField):
    """JSON as written: no number is rounded, and a fault names its place."""

    def __init__(self, *, rows: int = 8, empty: Any = None, **options: Any) -> None:
        attrs = {"rows": rows, "spellcheck": "false", "autocomplete": "off", "class": "code"}
        super().__init__(strip=False, widget=forms.Textarea(attrs=attrs), **options)
        self.empty = empty

    def to_python(self, value: Any) -> Any:
        """The value; what is left empty stands for `empty`."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return self.empty
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except InvalidJson as error:
            raise ValidationError(error.message) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed."""
        return _Typed(data or "")

    def prepare_value(self, value: Any) -> Any:
        """What was typed as it was typed, a stored value over several lines."""
        return value if isinstance(value, _Typed) else "" if value in (None, {}, [], ()) else written(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the text is another."""
        return bool(self.prepare_value(initial) != (data or ""))


class Codes(forms.CharField):
    """Whole numbers within bounds; spaces, commas and line ends part them."""

    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        attrs = {"spellcheck": "false", "autocomplete": "off", "inputmode": "numeric", "class": "code"}
        super().__init__(widget=forms.TextInput(attrs=attrs), **options)
        self.least, self.most = least, most

    def to_python(self, value: Any) -> Any:
        """The numbers; each fault names what was typed."""
        words = str(value or "").replace(",", " ").split() if not isinstance(value, list | tuple) else value
        if wrong := [word for word in words if not self._is_code(str(word))]:
            raise ValidationError([f"{word} is no whole number from {self.least} to {self.most}." for word in wrong])
        return [int(word) for word in words]

    def prepare_value(self, value: Any) -> Any:
        """All in one line."""
        return value if isinstance(value, str) else " ".join(str(part) for part in value or ())

    def _is_code(self, word: str) -> bool:
        return word.isdecimal() and len(word) <= len(str(self.most)) and self.least <= int(word) <= self.most


class Lines(forms.CharField):
    """Words, one a line."""

    def __init__(self, *, rows: int = 3, **options: Any) -> None:
        attrs = {"rows": rows, "spellcheck": "false", "autocomplete": "off", "class": "code"}
        super().__init__(widget=forms.Textarea(attrs=attrs), **options)

    def to_python(self, value: Any) -> Any:
        """The words; spaces, commas and line ends part them."""
        return str(value or "").replace(",", " ").split() if not isinstance(value, list | tuple) else list(value)

    def prepare_value(self, value: Any) -> Any:
        """One a line."""
        return value if isinstance(value, str) else "\n".join(str(part) for part in value or ())
