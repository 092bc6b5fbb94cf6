"""What each kind of tool adds to a definition: how the arguments become a request, a call or a command."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,39}$"
HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"

ToolName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


class Part(BaseModel):
    """A part of a definition: it is what it is, and holds nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HttpCall(Part):
    """How the arguments become one HTTP request and its answer a result.

    `{args.path}` in `url` is one percent-encoded segment or part of one; in `headers` and `query` it is text (a
    parameter whose only content is a missing argument is left out). A string in `body` that is nothing but
    `{args.path}` or `{args}` becomes that exact JSON value; null means no body.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: str = Field(min_length=1, max_length=2000)
    headers: dict[Annotated[str, StringConstraints(pattern=rf"^{HEADER_NAME}$")], str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    body: Any = None
    success: tuple[Annotated[int, Field(ge=200, le=599)], ...] = ()
    not_applied: tuple[Annotated[int, Field(ge=400, le=599)], ...] = ()
    select: str | None = Field(default=None, min_length=1, max_length=1000)


class PythonCall(Part):
    """A function in this process, by the name it was declared under with `@tool`."""

    function: ToolName


class CommandCall(Part):
    """How the arguments become one command in the sandbox, and its end a result.

    `argv` starts one program, without a shell. An element that is nothing but `{args.path}` becomes that value, as one
    element; it is left out when there is none. `stdin`: all the arguments as JSON, or nothing. `not_applied`: the exit
    codes that say for certain that nothing was changed.
    """

    argv: tuple[Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")], ...] = Field(
        min_length=1, max_length=64
    )
    stdin: Literal["none", "args"] = "none"
    output: Literal["text", "json"] = "text"
    not_applied: tuple[Annotated[int, Field(ge=1, le=255)], ...] = ()

    @property
    def takes_args(self) -> bool:
        """Whether all the arguments are its standard input."""
        return self.stdin == "args"
