"""Template tags for values from outside: text nodes only, hidden characters named."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agentops.web.exact import Leaf, pieces
from tools.domain.templates import Text, Verbatim

register = template.Library()


@register.simple_tag
def exact_text(value: Any) -> SafeString:
    """The text, isolated, with what cannot be seen as code points."""
    marked = format_html_join(
        "", "{}", ((format_html('<span class="codepoint">{}</span>', p.code) if p.code else p.text,) for p in pieces(str(value)))
    )
    return format_html('<bdi class="exact">{}</bdi>', marked)


@register.simple_tag
def exact_plain(value: Any) -> str:
    """The same where no element may stand: titles and labels."""
    return "".join(f"⟦{p.code}⟧" if p.code else p.text for p in pieces(str(value)))


@register.simple_tag
def exact_parts(parts: Sequence[Text | Verbatim]) -> SafeString:
    """A sentence whose inserted values stand apart from its words."""
    shown = ((_part(part),) for part in parts)
    return format_html_join("", "{}", shown)


@register.simple_tag
def exact_fields(fields: Sequence[Leaf], unfold: bool = False) -> SafeString:
    """The field table."""
    return render_to_string("components/fields.html", {"fields": fields, "unfold": bool(unfold)})


def _part(part: Text | Verbatim) -> SafeString | str:
    if isinstance(part, Text):
        return exact_text(part.text)
    return format_html('<span class="value">{}</span>', exact_text(part.text))
