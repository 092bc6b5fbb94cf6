"""Arguments and results as everybody may see them, and as digests see them; the raw ones stay sealed."""

from dataclasses import dataclass
from uuid import UUID

from agentops.tenancy.sealing import seal, tenant_hmac_key, unseal
from runs.book import Book
from runs.models import Run, Step
from tools.domain import secrets
from tools.domain.canonical import Json, canonical, parse
from tools.domain.secret_schemas import SecretSchema


@dataclass(frozen=True)
class MaskedArgs:
    """`shown`: secret leaves as tags. `hashed`: secret leaves as full HMACs, for digests and fingerprints."""

    shown: Json
    hashed: Json


def mask_args(tenant_id: UUID, args: Json, schema: SecretSchema, known: frozenset[str]) -> MaskedArgs:
    """Both forms of the arguments of one call."""
    key = tenant_hmac_key(tenant_id)
    shown = secrets.mask(args, schema, key=key, known=known).value
    return MaskedArgs(shown, secrets.for_digest(args, schema, key=key, known=known))


def mask_result(tenant_id: UUID, result: Json, schema: SecretSchema, known: frozenset[str]) -> Json:
    """A result with every secret leaf replaced by its tag."""
    masked: Json = secrets.mask(result, schema, key=tenant_hmac_key(tenant_id), known=known).value
    return masked


def seal_args(tenant_id: UUID, step_id: UUID, args: Json) -> bytes:
    """The raw arguments, readable by execution alone."""
    return seal(tenant_id, f"proposal:{step_id}", canonical(args).encode())


def seal_input(tenant_id: UUID, run_id: UUID, given: Json) -> bytes:
    """What a run was given, readable by its playbook alone."""
    return seal(tenant_id, f"input:{run_id}", canonical(given).encode())


def unseal_input(run: Run) -> Json:
    """What the run was given, secrets and all."""
    if run.sealed_input is None:
        return parse(run.input)
    return parse(unseal(run.tenant_id, f"input:{run.id}", bytes(run.sealed_input)))


def unseal_args(book: Book, step: Step) -> Json:
    """The raw arguments of an open step, for execution alone."""
    sealed = book.proposals[step.id].sealed
    return parse(unseal(step.tenant_id, f"proposal:{step.id}", bytes(sealed))) if sealed else None
