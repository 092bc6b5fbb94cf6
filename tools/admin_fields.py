"""Form fields of definitions: exact JSON over several lines, and lists of words one a line."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson
from tools.domain.writing import written


class ExactJson(forms.CharField):
    """JSON as written: no number is rounded, and a fault names its place."""

    def __init__(self, *, rows: int = 8, empty: Any = None, **options: Any) -> None:
        attrs = {"rows": rows, "spellcheck": "false", "autocomplete": "off", "class": "code"}
        super().__init__(strip=False, widget=forms.Textarea(attrs=attrs), **options)
        self.empty = empty

    def to_python(self, value: Any) -> Any:
        """The value; what is left empty stands for `empty`."""
        if not isinstance(value, str):
            return value
        if not value.strip():
            return self.empty
        try:
            return parse(value)
        except InvalidJson as error:
            raise ValidationError(error.message) from None

    def prepare_value(self, value: Any) -> Any:
        """What was typed as it was typed, a stored value over several lines."""
        return value if isinstance(value, str) else "" if value is None else written(value)

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
