"""`/docs`: the OpenAPI document to read and to try, with every file of the page served from here."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from fastapi import APIRouter, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse

from amos_graph.errors import AmosError

#: Swagger UI as its package brings it: file → media type.
_FILES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
_PACKAGE: Final = "fastapi_swagger.resources"
#: The browser itself refuses what the page might ask of another host.
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
)

router: Final = APIRouter(include_in_schema=False)


@router.get("/docs")
def page() -> HTMLResponse:
    """The page; its addresses are relative, so that it works behind any prefix."""
    html = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="amos-graph",
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon-32x32.png",
        # Else a badge of another host would judge the document.
        swagger_ui_parameters={"validatorUrl": None},
    )
    html.headers["Content-Security-Policy"] = _POLICY
    return html


@router.get("/docs/{name}")
def file(name: str) -> Response:
    """A file of the page. Raises `not_found` for any other."""
    if name not in _FILES:
        raise AmosError("not_found", "there is no such path")
    return Response(_content(name), media_type=_FILES[name], headers={"X-Content-Type-Options": "nosniff"})


@cache
def _content(name: str) -> bytes:
    return resources.files(_PACKAGE).joinpath(name).read_bytes()
