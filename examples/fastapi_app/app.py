"""The application: `uvicorn --app-dir examples fastapi_app.app:app`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

import ragpg
from ragpg.errors import (
    FilterError,
    NamespaceNotFound,
    PoolExhausted,
    ProviderError,
    RagpgError,
    SearchTimeout,
)

from .events import as_events, hit_json
from .sources import lines_of, page_of
from .tenants import Tenant, read_tenants, tenant_of

#: Errors of ours as statuses; others are 500, and their text stays in the log.
STATUSES: dict[type[RagpgError], int] = {
    FilterError: 400,
    NamespaceNotFound: 404,
    ProviderError: 502,
    PoolExhausted: 503,
    SearchTimeout: 504,
}
PAGE = Path(__file__).with_name("page.html")

router = APIRouter()
Allowed = Annotated[Tenant, Depends(tenant_of)]


class Search(BaseModel):
    """What to look for, and where."""

    query: str = Field(min_length=1, max_length=2000)
    namespaces: list[str] | None = None
    k: int = Field(5, ge=1, le=50)
    filter: dict[str, Any] | None = None


class Question(BaseModel):
    """What to answer; history are earlier questions, oldest first."""

    question: str = Field(min_length=1, max_length=2000)
    namespaces: list[str] | None = None
    k: int = Field(8, ge=1, le=50)
    history: list[str] = Field(default=[], max_length=20)


def client_of(request: Request, tenant: Allowed) -> ragpg.AsyncClient:
    """The client that all requests share, limited to the namespaces of the tenant: the database
    refuses every other, should a check be forgotten here."""
    client: ragpg.AsyncClient = request.app.state.rag
    return client.limited_to(tenant.namespaces)


Rag = Annotated[ragpg.AsyncClient, Depends(client_of)]


@router.get("/", response_class=HTMLResponse)
async def page() -> str:
    """A page to ask on; it keeps the key and sends it along."""
    return PAGE.read_text(encoding="utf-8")


@router.get("/namespaces")
async def namespaces(tenant: Allowed) -> dict[str, Any]:
    """The namespaces of the tenant."""
    return {"tenant": tenant.name, "namespaces": tenant.namespaces}


@router.post("/search")
async def search(asked: Search, tenant: Allowed, rag: Rag) -> dict[str, Any]:
    """Passages, best first, each with the link that opens its source at the line."""
    found = await rag.search(
        asked.query, namespace=tenant.choose(asked.namespaces), k=asked.k, filter=asked.filter
    )
    return {"hits": [hit_json(hit) for hit in found.hits], "notes": found.notes}


@router.post("/ask")
async def ask(asked: Question, tenant: Allowed, rag: Rag) -> StreamingResponse:
    """An answer as server-sent events: started, delta ..., perhaps repairing and
    further deltas, perhaps revised, done; or error."""
    answer = rag.ask_stream(
        asked.question,
        namespace=tenant.choose(asked.namespaces),
        k=asked.k,
        history=asked.history,
    )
    # A proxy that waits for the end would turn the stream into one piece.
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(as_events(answer), media_type="text/event-stream", headers=headers)


@router.get("/sources/{namespace}/{source:path}", response_class=HTMLResponse)
async def source(
    namespace: str, source: str, tenant: Allowed, rag: Rag, first: int = 0, last: int = 0
) -> str:
    """A source with numbered lines; those from first to last are marked."""
    [chosen] = tenant.choose([namespace])
    chunks = await rag.fetch(source, namespace=chosen)
    if not chunks:
        raise HTTPException(404, f"there is no source {source!r}")
    return page_of(source, lines_of(chunks), first, last)


async def _failed(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RagpgError)
    status = next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 500)
    if status == 500:
        raise error
    return JSONResponse({"detail": error.message, "hint": error.hint}, status)


def connect() -> ragpg.AsyncClient:
    """A client for RAGPG_DSN, with a pool of RAGPG_POOL_SIZE connections."""
    generator = ragpg.OpenAIGenerator() if os.environ.get("OPENAI_API_KEY") else None
    return ragpg.aconnect(embedder=ragpg.LocalEmbedder(), generator=generator)


def create_app(
    connect: Callable[[], ragpg.AsyncClient] = connect,
    tenants: Mapping[str, Tenant] | None = None,
) -> FastAPI:
    """The application; its one client lives as long as it does."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with connect() as rag:
            app.state.rag = rag
            yield

    app = FastAPI(title="ragpg example", lifespan=lifespan)
    app.state.tenants = read_tenants() if tenants is None else dict(tenants)
    app.include_router(router)
    app.add_exception_handler(RagpgError, _failed)
    return app


app = create_app()
