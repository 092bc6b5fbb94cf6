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
