"""The leaves of a call as its pages and its decision know them."""

from collections.abc import Mapping
from typing import Any

from agentops.web.display.fields import Field, fields
from agentops.web.display.folds import fold_ids
from tools.domain.canonical import Json


def as_fields(value: Json, schema: Any) -> list[Field]:
    """Every leaf in order; empty objects and lists are leaves."""
    return [] if value in ({}, None) else fields(value, schema)


def folds_of(snapshot: Mapping[str, Any]) -> set[str]:
    """The folds that a person must open: of the arguments, and of the command that they became."""
    command = snapshot.get("command") or {}
    return fold_ids(as_fields(snapshot["args"], snapshot["schema"])) | fold_ids(as_fields(command.get("argv"), {}))
