"""`/audit/verify`: whether the log is as it was written."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query
from agentops.api.answers import answer
from agentops.api.audit_documents import ExportDocument, KeyDocument, VerdictDocument
from agentops.api.documented import documented
from agentops.api.resource import Resource, row_id
from agentops.signing import public_key
from agentops.tenancy.scopes import AUDIT_READ
from runs.exporting import export_run
from runs.verifying import verify_run, verify_tenant


class Verify(Resource):
    """The hash chains, read again."""

    @documented(
        200,
        "With `run`, every event of that run; without, the tenant's own log and where the log of each run ends",
        shows=VerdictDocument,
        query=("run",),
    )
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(AUDIT_READ)
        query.known_only(request, "run", paging=False)
        run = query.word(request, "run")
        if run is not None:
            verdict = verify_run(actor, row_id(run))
            return answer({"ok": verdict.first_bad is None, "events": verdict.events, **_first_bad(verdict.first_bad)})
        found = verify_tenant(actor)
        body = {"ok": found.ok, "events": found.changes.events, **_first_bad(found.changes.first_bad)}
        body |= {"runs": found.runs, "bad_runs": list(found.bad_runs), "checkpoints": found.checkpoints}
        return answer(body if found.bad_checkpoint is None else body | {"bad_checkpoint": found.bad_checkpoint})


class Key(Resource):
    """Whose signature stands under the checkpoints."""

    authentication_classes = ()

    @documented(200, "The public key of this installation; write it down elsewhere", shows=KeyDocument, public=True)
    def get(self, request: Request) -> HttpResponse:
        query.known_only(request, paging=False)
        return answer({"algorithm": "Ed25519", "public_key": public_key()})


class ExportRun(Resource):
    """One run as a file that an outsider can check."""

    @documented(200, "The whole log and the checkpoint that vouches for it", shows=ExportDocument)
    def get(self, request: Request, run_id: str) -> HttpResponse:
        query.known_only(request, paging=False)
        actor = self.actor(AUDIT_READ)
        response = answer(export_run(actor, row_id(run_id)))
        response.headers["Content-Disposition"] = f'attachment; filename="run-{row_id(run_id)}.json"'
        return response


def _first_bad(seq: int | None) -> dict[str, Any]:
    return {} if seq is None else {"first_bad_seq": seq}
