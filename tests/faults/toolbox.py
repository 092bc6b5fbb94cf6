"""The tools and agents of the fault tests: every kind of promise that a tool can make, and every way to break it."""

from typing import Any

BEHAVIOURS = ("ok", "slow", "late", "fail", "error", "cut", "hang", "shape", "large", "held")
TOOL_SECONDS = 2
HELD_TOOL_SECONDS = 15
_FIELDS = {
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "mode": {"enum": list(BEHAVIOURS)},
        "amount": {"type": "string"},
    },
    "required": ["ref", "mode"],
    "additionalProperties": False,
}
_COST = {"money": {"amount": {"in": "args", "pointer": "/amount"}, "currency": "EUR"}, "records": 1}


def tools(outside: str) -> list[dict[str, Any]]:
    """Every tool; `outside` is the server's host and port."""
    read = _tool(outside, "look", "GET", "read/{args.mode}/{args.ref}", risk="read")
    find = _tool(outside, "find", "GET", "find/{args.key}", risk="read")
    find["input_schema"] = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    pay = _effect(outside, "pay", "POST")
    keyed = _effect(outside, "keyed", "POST") | {
        "idempotency": "header:Idempotency-Key",
        "reconcile": {
            "probe": {"tool": "find", "args": {"key": {"$cel": "idempotency_key"}}},
            "succeeded": "result.found",
            "failed": "!result.found",
        },
    }
    once = _effect(outside, "once", "PUT") | {"idempotency": "native"}
    patient = [held | {"name": f"{held['name']}_held", "timeout_ms": HELD_TOOL_SECONDS * 1000} for held in (read, pay)]
    return [read, find, pay, keyed, once, *patient]


def agents() -> list[dict[str, Any]]:
    """One agent a shape of run; their `input` has `ref`, and `mode` for the call that misbehaves."""
    names = [tool["name"] for tool in tools("127.0.0.1:1")]
    shapes: dict[str, list[Any]] = {
        "free": [_call("look", 1), _call("look", 2, "slow"), _call("look", 3)],
        "pays": [_call("look", 1, "ok"), _call("pay", 2)],
        "keyed": [_call("keyed", 1), _call("look", 2, "ok")],
        "once": [_call("once", 1), _call("look", 2, "ok")],
        "parallel": [
            {"parallel": [_call("pay", 1), _call("look", 2, "slow"), _call("keyed", 3), _call("look", 4, "ok")]}
        ],
        "held-pay": [_call("pay_held", 1)],
        "held-look": [_call("look_held", 1)],
        "two": [_call("once", 1), _call("pay", 2)],
        "looks": [_call("look", 1)],
        "bounded": [_call("look", place) for place in (1, 2, 3)],
    }
    return [
        {"slug": slug, "name": slug, "planner": "playbook", "tools": names, "playbook": {"steps": steps}}
        | ({"budget": {"tool_calls": 2}} if slug == "bounded" else {})
        for slug, steps in shapes.items()
    ]


def _call(tool: str, place: int, mode: str | None = None) -> dict[str, Any]:
    args: dict[str, Any] = {"ref": {"$cel": f"input.ref + '.{place}'"}, "mode": mode or {"$cel": "input.mode"}}
    if not tool.startswith("look"):
        args["amount"] = f"{place}.50"
    return {"tool": tool, "args": args, "on_error": "continue"}


def _effect(outside: str, name: str, method: str) -> dict[str, Any]:
    made = _tool(outside, name, method, name + "/{args.mode}/{args.ref}", risk="destructive") | {"cost": _COST}
    made["http"] |= {"body": "{args}", "not_applied": [503]}
    return made


def _tool(outside: str, name: str, method: str, path: str, *, risk: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Talks to the world of the fault tests.",
        "kind": "http",
        "risk": risk,
        "required_scope": "ledger:read",
        "input_schema": _FIELDS,
        "timeout_ms": TOOL_SECONDS * 1000,
        "output_trust": "trusted",
        "output_schema": {"type": "object", "properties": {"serial": {"type": "integer"}}},
        "http": {"method": method, "url": f"http://{outside}/{path}"},
    }
