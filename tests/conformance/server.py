"""A server of the suite's fixtures, put together as the gateway's own is."""

import json
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    MissingRequiredClientCapabilityErrorData,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SamplingCapability,
    SamplingMessage,
    Tool,
)

from tests.conformance.contents import DEFAULTS, ENUMS, plain_tools, prompt, resource, text
from tests.conformance.rounds import ASKING, Asked, by_capability, prompt_context

_OBJECT: Final = {"type": "object", "properties": {}}
_FORMS: Final = {"test_elicitation_sep1034_defaults": DEFAULTS, "test_elicitation_sep1330_enums": ENUMS}
_LOGGING: Final = ("test_tool_with_logging", "test_logging_tool")
_CHANGES: Final[dict[str, ServerEvent]] = {
    "test_trigger_tool_change": ToolsListChanged(),
    "test_trigger_prompt_change": PromptsListChanged(),
}
_LIVE: Final = (*_LOGGING, "test_tool_with_progress", "test_error_handling", "test_missing_capability")
_bus: Final = InMemorySubscriptionBus()
_PRIVATE: Final[dict[str, Any]] = {"ttl_ms": 0, "cache_scope": "private"}
_CAPABILITIES: Final = "test_input_required_result_capabilities"
_ASKING_PROMPT: Final = "test_input_required_result_prompt"
type Context = ServerRequestContext[Any, Any]


def _input_schema(name: str) -> dict[str, Any]:
    named = {"test_sampling": "prompt", "test_elicitation": "message"}.get(name)
    return _OBJECT if named is None else {"type": "object", "properties": {named: {"type": "string"}}}


def _tools() -> list[str]:
    asking = [*ASKING, *_FORMS, _CAPABILITIES, "test_streaming_elicitation", "test_sampling", "test_elicitation"]
    names = [*plain_tools(), *_LIVE, *_CHANGES, *asking]
    return sorted(names)


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    tools = [Tool(name=name, description=name, input_schema=_input_schema(name)) for name in _tools()]
    return ListToolsResult(tools=tools, **_PRIVATE)


async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    if params.name not in _tools():
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
    if params.name in plain_tools():
        return CallToolResult(content=plain_tools()[params.name])
    return await _reacted(ctx, params) or CallToolResult(content=[text(await _live(ctx, params))])


async def _reacted(ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult | None:
    """Tools that ask, refuse, fail or change something."""
    name = params.name
    if name in ASKING:
        state = json.loads(params.request_state) if params.request_state else None
        return _said(ASKING[name](dict(params.input_responses or {}), state))
    if name in {_CAPABILITIES, "test_streaming_elicitation"}:
        return _said(by_capability(ctx))
    if name in _CHANGES:
        await _bus.publish(_CHANGES[name])
        return CallToolResult(content=[text("Told.")])
    if name == "test_missing_capability":
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", _needed())
    if name == "test_error_handling":
        return CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)
    return None


def _needed() -> dict[str, Any]:
    needed = ClientCapabilities(sampling=SamplingCapability())
    data = MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
    return data.model_dump(by_alias=True, exclude_none=True)


def _said(asked: Asked) -> CallToolResult | InputRequiredResult:
    return asked if isinstance(asked, InputRequiredResult) else CallToolResult(content=[text(asked)])


async def _live(ctx: Context, params: CallToolRequestParams) -> str:
    """Tools that talk to the client while they run."""
    name, given = params.name, params.arguments or {}
    if name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100, f"{done} of 100")
        return "Done."
    if name in _LOGGING:
        for said in ("started", "processing data", "completed"):
            await ctx.session.send_log_message("info", f"Tool {said}", related_request_id=ctx.request_id)
        return "Logged."
    if name == "test_sampling":
        messages = [SamplingMessage(role="user", content=text(str(given.get("prompt"))))]
        made = await ctx.session.create_message(messages, max_tokens=100, related_request_id=ctx.request_id)
        return f"LLM response: {getattr(made.content, 'text', '')}"
    fields = _FORMS.get(name, {"username": {"type": "string"}, "email": {"type": "string"}})
    schema = {"type": "object", "properties": fields, "required": [] if name in _FORMS else ["username", "email"]}
    message = str(given.get("message", "Please fill in."))
    filled = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"Elicitation completed: action={filled.action}, content={json.dumps(filled.content)}"


async def list_resources(ctx: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
    found = [("static-text", "text/plain"), ("static-binary", "image/png"), ("watched-resource", "text/plain")]
    rows = [Resource(uri=f"test://{name}", name=name, mime_type=kind, description=name) for name, kind in found]
    return ListResourcesResult(resources=rows, **_PRIVATE)


async def list_templates(ctx: Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    row = ResourceTemplate(uri_template="test://template/{id}/data", name="template", mime_type="application/json")
    return ListResourceTemplatesResult(resource_templates=[row], **_PRIVATE)


async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    found = resource(str(params.uri))
    if found is None:
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": str(params.uri)})
    return ReadResourceResult(contents=[found], **_PRIVATE)


async def list_prompts(ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
    arguments = {
        "test_simple_prompt": [],
        "test_prompt_with_arguments": ["arg1", "arg2"],
        "test_prompt_with_embedded_resource": ["resourceUri"],
        "test_prompt_with_image": [],
        _ASKING_PROMPT: [],
    }
    rows = [
        Prompt(name=name, description=name, arguments=[PromptArgument(name=n, description=n, required=True) for n in a])
        for name, a in arguments.items()
    ]
    return ListPromptsResult(prompts=rows, **_PRIVATE)


async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    if params.name == _ASKING_PROMPT:
        asked = prompt_context(dict(params.input_responses or {}))
        if isinstance(asked, InputRequiredResult):
            return asked
        return GetPromptResult(messages=[PromptMessage(role="user", content=text(asked))])
    messages = prompt(params.name, params.arguments or {})
    if messages is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}")
    return GetPromptResult(messages=messages)


async def complete(ctx: Context, params: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=["paris"], total=1, has_more=False))


async def acknowledge(ctx: Context, params: Any) -> EmptyResult:
    return EmptyResult()


def fixtures() -> Server[Any]:
    """Everything that the suite asks for."""
    return Server[Any](
        "conformance",
        version="1",
        get_tool_input_schema=lambda name: _input_schema(name) if name in _tools() else None,
        on_subscriptions_listen=ListenHandler(_bus),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=acknowledge,
        on_unsubscribe_resource=acknowledge,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )
