"""What tenancy refuses, each by its own name."""

from agentops.domain_error import DomainError


class NoTenant(DomainError):
    """No tenant transaction is open."""

    code = "no_tenant"


class KeyRejected(DomainError):
    """The API key is not valid."""

    code = "key_rejected"


class NotAMember(DomainError):
    """This person is not a member of the tenant."""

    code = "not_a_member"


class ScopeMissing(DomainError):
    """The key or the member's role does not allow this."""

    code = "scope_missing"


class UnknownRole(DomainError):
    """There is no such role."""

    code = "unknown_role"


class ScopeNotGrantable(DomainError):
    """A member can only grant what they have."""

    code = "scope_not_grantable"


class PeopleOnlyScope(DomainError):
    """Only a person's key may carry approvals:decide, and then no tool scopes."""

    code = "people_only_scope"


class LastOwner(DomainError):
    """A tenant keeps at least one owner."""

    code = "last_owner"


class SealBroken(DomainError):
    """A sealed value cannot be opened: another key, tenant or row, or it was changed."""

    code = "seal_broken"


class KeyNotFound(DomainError):
    """There is no such key."""

    code = "not_found"


class ServiceAccountNotFound(DomainError):
    """There is no such service account."""

    code = "not_found"
