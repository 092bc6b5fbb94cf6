"""A request's question never changes, a decided one stays decided, and tenants are kept apart."""

from django.db import migrations

from agentops.tenancy.rls import append_only, enable_rls, tenant_fk, tenant_key

GUARD = """
CREATE FUNCTION approvals_guard_request() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE movable text[] := '{status,version,checks,checked_at,decided_at,superseded_by,expires_at}';
BEGIN
    IF (to_jsonb(OLD) - movable) IS DISTINCT FROM (to_jsonb(NEW) - movable) THEN
        RAISE EXCEPTION 'what request % asks cannot be changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status <> NEW.status AND OLD.status <> 'pending'
        AND NOT (OLD.status = 'approved' AND NEW.status = 'superseded') THEN
        RAISE EXCEPTION 'request % is % and cannot become %', OLD.id, OLD.status, NEW.status
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER guard_request BEFORE UPDATE ON approvals_approvalrequest
    FOR EACH ROW EXECUTE FUNCTION approvals_guard_request();
CREATE FUNCTION approvals_never_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'rows of % are never deleted', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER never_deleted BEFORE DELETE ON approvals_approvalrequest
    FOR EACH ROW EXECUTE FUNCTION approvals_never_deleted();
"""

UNGUARD = """
DROP TRIGGER guard_request ON approvals_approvalrequest; DROP FUNCTION approvals_guard_request();
DROP TRIGGER never_deleted ON approvals_approvalrequest; DROP FUNCTION approvals_never_deleted();
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]

    operations = [
        tenant_key("approvals_approvalrequest"),
        tenant_fk("approvals_decision", "request_id", "approvals_approvalrequest"),
        enable_rls("approvals_approvalrequest"),
        enable_rls("approvals_decision"),
        enable_rls("approvals_policyversion"),
        append_only("approvals_decision"),
        append_only("approvals_policyversion"),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
