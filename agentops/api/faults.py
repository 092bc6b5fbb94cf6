"""pydantic's faults as JSON pointers into the body, with sentences that repeat no input."""

from typing import Any

from pydantic import ValidationError

from tools.domain.canonical import Json

_OBJECT = "This must be an object."
_KIND = "The kind must be one of: tool, finish."
_WORDS = {
    "extra_forbidden": "This field is not known.",
    "missing": "This field is needed.",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    # Proposals alone are told apart by a word in them.
    "union_tag_not_found": _KIND,
    "union_tag_invalid": _KIND,
}


def faults_of(error: ValidationError, value: Json) -> list[dict[str, str]]:
    """One entry a fault, at most twenty."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return [{"pointer": _pointer(f["loc"], value), "detail": _WORDS.get(f["type"], f["msg"])} for f in faults[:20]]


def _pointer(place: tuple[int | str, ...], value: Json) -> str:
    """pydantic names the branches of a union in its places; those are not in the body and are left out."""
    parts: list[str] = []
    here: Any = value
    for number, part in enumerate(place):
        is_last = number == len(place) - 1
        if isinstance(here, dict) and (part in here or (is_last and isinstance(part, str))):
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        else:
            continue
        parts.append(str(part).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in parts)
