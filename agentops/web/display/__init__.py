"""Shows values exactly: every leaf, every hidden character, nothing prettified (pages.md, Request 2)."""
