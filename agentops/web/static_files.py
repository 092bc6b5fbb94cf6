"""Static files under ASGI: whole answers, because Django consumes synchronous streams there only with a warning."""

from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise has no types
    """WhiteNoise; our files are small enough to be read at once."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        """The file, streamed under WSGI and whole under ASGI."""
        streamed: StreamingHttpResponse = WhiteNoiseMiddleware.serve(static_file, request)
        if not isinstance(request, ASGIRequest):
            return streamed
        body = b"".join(streamed.streaming_content)  # type: ignore[arg-type]  # a file, read synchronously
        streamed.close()
        return HttpResponse(body, status=streamed.status_code, headers=dict(streamed.headers))
