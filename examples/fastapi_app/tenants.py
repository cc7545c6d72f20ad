"""Who may see what: the key in a header stands for a tenant, and a tenant for its namespaces.

The application checks what is asked for, and the database is told in every transaction what the
tenant may use (app.client_of). A role for each tenant would do without either (docs/operations.md).
"""

from __future__ import annotations

import hmac
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Header, HTTPException, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer and the namespaces that are searched for them, nothing else ever."""

    name: str
    namespaces: Sequence[str]

    def choose(self, asked: Sequence[str] | None) -> list[str]:
        """The namespaces of a call: all of the tenant's, or those asked for. 403 for others: the
        answer is the same whether they exist or not."""
        for namespace in asked or ():
            if namespace not in self.namespaces:
                raise HTTPException(403, f"the namespace {namespace!r} is not yours")
        return list(dict.fromkeys(asked or self.namespaces))


def read_tenants(text: str | None = None) -> dict[str, Tenant]:
    """Tenants by key, of TENANTS: {"key": {"name": "acme", "namespaces": ["acme", "shared"]}}."""
    given = json.loads(text or os.environ.get("TENANTS") or "{}")
    return {key: Tenant(one["name"], tuple(one["namespaces"])) for key, one in given.items()}


def find_tenant(tenants: Mapping[str, Tenant], key: str) -> Tenant | None:
    """The tenant of a key. Every key is compared, in the same time whatever it is."""
    found = None
    for known, tenant in tenants.items():
        if hmac.compare_digest(known.encode(), key.encode()):
            found = tenant
    return found


async def tenant_of(request: Request, x_api_key: Annotated[str, Header()] = "") -> Tenant:
    """The tenant of a request; 401 without a key that is known."""
    tenant = find_tenant(request.app.state.tenants, x_api_key)
    if tenant is None:
        raise HTTPException(401, "the header X-Api-Key names no tenant")
    return tenant
