"""Template tags for values from outside: text nodes only, hidden characters named."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from agentops.web.display.fields import Field
from agentops.web.display.fields import fields as fields_of
from agentops.web.display.folds import INLINE, Chunk, chunk, table
from agentops.web.display.text import LOOKALIKE, SECRET, SECRET_TAG, Segment, segments
from agentops.web.display.text import notices as notices_of
from tools.domain.templates import Text, Verbatim, split

register = template.Library()


@register.simple_tag
def exact_text(value: Any, name: bool = False) -> SafeString:
    """The text, isolated, with what cannot be seen as code points. `name`: a key, a tool or a host."""
    return _isolated(segments(str(value), name=name))


@register.simple_tag
def exact_chunk(part: Chunk) -> SafeString:
    """One part of a long text."""
    return _isolated(segments(part.text, start=part.start, stop=part.stop))


@register.simple_tag
def exact_plain(value: Any) -> str:
    """The same where no element may stand: titles and labels."""
    return "".join(segment.shown for segment in segments(str(value)))


@register.simple_tag
def exact_parts(parts: Sequence[Text | Verbatim]) -> SafeString:
    """A sentence whose inserted values stand apart from its words."""
    return format_html_join("", "{}", ((_part(part),) for part in parts))


@register.simple_tag
def exact_summary(text: str, places: Sequence[int]) -> SafeString:
    """A stored sentence; `places` says where its inserted values stand."""
    return exact_parts(split(text, places))


@register.simple_tag
def exact_notices(value: Any, name: bool = False) -> list[str]:
    """What a person should know before reading the text: `1 invisible character`."""
    return notices_of(str(value), name=name)


@register.simple_tag
def exact_fields(fields: Sequence[Field], unfold: bool = False, url: str = "") -> SafeString:
    """The field table. `url` answers with what a fold holds (`?fold=&at=`); without it everything is on the page."""
    shown = table(fields)
    whole = bool(unfold) or not url
    context = {
        "fields": fields if whole else shown.rows,
        "more": () if whole else shown.more,
        "unfold": bool(unfold),
        "url": url,
        "inline": len(max((f.text for f in fields), key=len, default="")) if whole else INLINE,
    }
    return render_to_string("components/fields.html", context)


@register.simple_tag
def exact_elements(argv: Sequence[str], unfold: bool = False) -> SafeString:
    """The elements of a command line, told apart whatever they hold: the program, then what it is given."""
    elements = fields_of(list(argv))
    longest = len(max((element.text for element in elements), key=len, default=""))
    context = {"elements": elements, "unfold": bool(unfold), "inline": longest}
    return render_to_string("components/exact/elements.html", context)


@register.simple_tag
def exact_long(text: str, fold: str, url: str = "") -> SafeString:
    """A long text whose later parts come from `url`."""
    return render_to_string("components/exact/chunk.html", {"chunk": chunk(fold, text), "url": url})


def _part(part: Text | Verbatim) -> SafeString | str:
    if isinstance(part, Text):
        return exact_text(part.text)
    return format_html('<span class="value">{}</span>', exact_text(part.text))


def _isolated(pieces: Sequence[Segment]) -> SafeString:
    return format_html(
        '<bdi class="exact" dir="ltr">{}</bdi>', format_html_join("", "{}", ((_piece(p),) for p in pieces))
    )


def _piece(piece: Segment) -> SafeString | str:
    if piece.why == SECRET:
        return _secret(piece.text)
    if not piece.code:
        return piece.text
    kind = " exact__alike" if piece.why == LOOKALIKE else ""
    return format_html(
        '<span class="codepoint exact__cp{}" title="{}">{}</span>', kind, piece.name.capitalize(), piece.shown
    )


def _secret(tag: str) -> SafeString:
    found = SECRET_TAG.fullmatch(tag)
    if found is None:
        return format_html("{}", tag)
    length = int(found["length"])
    size = ngettext("%d character", "%d characters", length) % length
    words = gettext("secret %(kind)s, %(size)s") % {"kind": found["kind"], "size": size}
    return format_html(
        '<span class="pill exact__secret" title="{}">{} · {}</span>',
        gettext("Hidden; equal marks are equal values."),
        words,
        found["hmac"],
    )
