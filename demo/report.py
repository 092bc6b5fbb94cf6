"""A demo tool that is a command: it adds up a column of a CSV file in the sandbox, where such work belongs."""

from typing import Any

_PROGRAM = """
import csv, decimal, io, json, sys
given = json.load(sys.stdin)
rows = list(csv.DictReader(io.StringIO(given["csv"])))
column = given["column"]
try:
    total = sum(decimal.Decimal(row[column]) for row in rows)
except (KeyError, TypeError):
    sys.exit(f"Not every row has a column {column}.")
except decimal.InvalidOperation:
    sys.exit(f"Not everything in {column} is a number.")
json.dump({"rows": len(rows), "total": format(total, "f")}, sys.stdout)
""".strip()

DEFINITION: dict[str, Any] = {
    "name": "csv_total",
    "title": "Add up a column",
    "description": "Add up one column of a CSV text that has a line of headings. Exact.",
    "kind": "command",
    "risk": "read",
    "required_scope": "builtin:read",
    "output_trust": "trusted",
    "timeout_ms": 5_000,
    "input_schema": {
        "type": "object",
        "properties": {
            "csv": {"type": "string", "title": "CSV", "maxLength": 200_000},
            "column": {"type": "string", "title": "Column", "maxLength": 200},
        },
        "required": ["csv", "column"],
        "additionalProperties": False,
    },
    "command": {"argv": ["/usr/bin/env", "python3", "-I", "-S", "-c", _PROGRAM], "stdin": "args", "output": "json"},
}
