"""A result as the planner reads it."""


def observation_text(result_text: str, limit: int) -> str:
    """The first `limit` characters, and how many are left out; the whole result stays stored."""
    if len(result_text) <= limit:
        return result_text
    return f"{result_text[:limit]}…[truncated {len(result_text) - limit} chars]"
