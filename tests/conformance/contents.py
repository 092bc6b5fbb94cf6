"""The contents that the official suite expects of tools, resources and prompts."""

from typing import Any, Final

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    TextContent,
    TextResourceContents,
)

_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
_WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def _image() -> ImageContent:
    return ImageContent(type="image", data=_PNG, mime_type="image/png")


def _embedded(uri: str, said: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=said))


def plain_tools() -> dict[str, list[ContentBlock]]:
    """Tools that always answer the same."""
    return {
        "test_simple_text": [text("This is a simple text response for testing.")],
        "test_image_content": [_image()],
        "test_audio_content": [AudioContent(type="audio", data=_WAV, mime_type="audio/wav")],
        "test_embedded_resource": [_embedded("test://embedded-resource", "This is an embedded resource content.")],
        "test_multiple_content_types": [
            text("Multiple content types test:"),
            _image(),
            _embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
        ],
    }


def resource(uri: str) -> TextResourceContents | BlobResourceContents | None:
    """What is read at this address."""
    if uri == "test://static-text":
        said = "This is the content of the static text resource."
        return TextResourceContents(uri=uri, mime_type="text/plain", text=said)
    if uri == "test://static-binary":
        return BlobResourceContents(uri=uri, mime_type="image/png", blob=_PNG)
    if uri == "test://watched-resource":
        return TextResourceContents(uri=uri, mime_type="text/plain", text="Watched")
    if uri.startswith("test://template/") and uri.endswith("/data"):
        name = uri.split("/")[-2]
        said = f'{{"id": "{name}", "templateTest": true, "data": "Data for ID: {name}"}}'
        return TextResourceContents(uri=uri, mime_type="application/json", text=said)
    return None


def prompt(name: str, given: dict[str, str]) -> list[PromptMessage] | None:
    """The messages of this prompt."""
    messages: dict[str, list[ContentBlock]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            _embedded(given.get("resourceUri", "test://x"), "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [_image(), text("Please analyze the image above.")],
    }
    found = messages.get(name)
    return None if found is None else [PromptMessage(role="user", content=block) for block in found]


def _kind(name: str, default: Any, **more: Any) -> dict[str, Any]:
    return {"type": name, "description": "x", "default": default, **more}


DEFAULTS: Final[dict[str, Any]] = {
    "name": _kind("string", "John Doe"),
    "age": _kind("integer", 30),
    "score": _kind("number", 95.5),
    "status": _kind("string", "active", enum=["active", "inactive", "pending"]),
    "verified": _kind("boolean", True),
}
_LEVELS: Final = [{"const": name, "title": name.title()} for name in ("low", "medium", "high")]
ENUMS: Final[dict[str, Any]] = {
    "untitledSingle": {"type": "string", "enum": ["active", "inactive", "pending"]},
    "titledSingle": {"type": "string", "oneOf": _LEVELS},
    "legacyEnum": {"type": "string", "enum": ["small", "large"], "enumNames": ["Small", "Large"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["read", "write"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _LEVELS}},
}
