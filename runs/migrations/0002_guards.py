"""The database repeats the two transition tables, keeps what is final as it is, and keeps tenants apart."""

from django.db import migrations

from agentops.tenancy.rls import append_only, enable_rls, tenant_fk, tenant_key

RUN_GUARD = """
CREATE FUNCTION runs_guard_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.finished_at IS NOT NULL AND (to_jsonb(OLD) - '{event_seq,head,used,reserved,tainted}'::text[])
        IS DISTINCT FROM (to_jsonb(NEW) - '{event_seq,head,used,reserved,tainted}'::text[]) THEN
        RAISE EXCEPTION 'run % has ended and cannot be changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
        ('awaiting_approval', 'cancelled'), ('awaiting_approval', 'executing'), ('awaiting_approval',
        'exhausted'), ('awaiting_approval', 'failed'), ('awaiting_approval', 'observing'),
        ('awaiting_approval', 'planning'), ('awaiting_approval', 'succeeded'), ('awaiting_approval',
        'validating'), ('executing', 'awaiting_approval'), ('executing', 'cancelled'), ('executing',
        'exhausted'), ('executing', 'failed'), ('executing', 'observing'), ('executing', 'planning'),
        ('executing', 'succeeded'), ('executing', 'validating'), ('observing', 'awaiting_approval'),
        ('observing', 'cancelled'), ('observing', 'executing'), ('observing', 'exhausted'), ('observing',
        'failed'), ('observing', 'planning'), ('observing', 'succeeded'), ('observing', 'validating'),
        ('planning', 'awaiting_approval'), ('planning', 'cancelled'), ('planning', 'executing'),
        ('planning', 'exhausted'), ('planning', 'failed'), ('planning', 'observing'), ('planning',
        'succeeded'), ('planning', 'validating'), ('validating', 'awaiting_approval'), ('validating',
        'cancelled'), ('validating', 'executing'), ('validating', 'exhausted'), ('validating', 'failed'),
        ('validating', 'observing'), ('validating', 'planning'), ('validating', 'succeeded')
    ) THEN
        RAISE EXCEPTION 'a run that is % cannot become %', OLD.status, NEW.status
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER guard_status BEFORE UPDATE ON runs_run FOR EACH ROW EXECUTE FUNCTION runs_guard_run();
"""

STEP_GUARD = """
CREATE FUNCTION runs_guard_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.settled_at IS NOT NULL AND NEW IS DISTINCT FROM OLD THEN
        RAISE EXCEPTION 'step % has ended and cannot be changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
        ('cleared', 'running'), ('cleared', 'stale'), ('cleared', 'withdrawn'), ('held', 'answered'),
        ('held', 'cleared'), ('held', 'expired'), ('held', 'rejected'), ('held', 'stale'), ('held',
        'withdrawn'), ('proposed', 'cleared'), ('proposed', 'held'), ('proposed', 'refused'), ('proposed',
        'succeeded'), ('running', 'cleared'), ('running', 'failed'), ('running', 'succeeded'), ('running',
        'unknown'), ('stale', 'held'), ('stale', 'refused'), ('stale', 'withdrawn'), ('unknown', 'failed'),
        ('unknown', 'succeeded')
    ) THEN
        RAISE EXCEPTION 'a step that is % cannot become %', OLD.status, NEW.status
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.token < OLD.token OR (OLD.digest, NEW.digest) IS DISTINCT FROM (OLD.digest, OLD.digest)
        AND NEW.status <> 'held' THEN
        RAISE EXCEPTION 'the token or the digest of step % cannot go back', OLD.id
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER guard_status BEFORE UPDATE ON runs_step FOR EACH ROW EXECUTE FUNCTION runs_guard_step();
"""

ATTEMPT_GUARD = """
CREATE FUNCTION runs_guard_attempt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.outcome IS NOT NULL THEN
        RAISE EXCEPTION 'attempt % has ended and cannot be changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER guard_outcome BEFORE UPDATE ON runs_attempt FOR EACH ROW EXECUTE FUNCTION runs_guard_attempt();
"""

NO_DELETE = """
CREATE FUNCTION runs_never_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'rows of % are never deleted', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER never_deleted BEFORE DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION runs_never_deleted();
CREATE TRIGGER never_deleted BEFORE DELETE ON runs_step FOR EACH ROW EXECUTE FUNCTION runs_never_deleted();
CREATE TRIGGER never_deleted BEFORE DELETE ON runs_attempt FOR EACH ROW EXECUTE FUNCTION runs_never_deleted();
"""

UNGUARD = """
DROP TRIGGER guard_status ON runs_run; DROP FUNCTION runs_guard_run();
DROP TRIGGER guard_status ON runs_step; DROP FUNCTION runs_guard_step();
DROP TRIGGER guard_outcome ON runs_attempt; DROP FUNCTION runs_guard_attempt();
DROP TRIGGER never_deleted ON runs_run; DROP TRIGGER never_deleted ON runs_step;
DROP TRIGGER never_deleted ON runs_attempt; DROP FUNCTION runs_never_deleted();
"""

TENANT_TABLES = ("agent", "agentversion", "run", "step", "proposal", "attempt", "observation", "event", "startrecord")


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial"), ("approvals", "0001_initial")]

    operations = [
        *(tenant_key(f"runs_{name}") for name in ("agent", "agentversion", "run", "step")),
        tenant_fk("runs_agentversion", "agent_id", "runs_agent"),
        tenant_fk("runs_agent", "current_id", "runs_agentversion", deferred=True),
        tenant_fk("runs_run", "agent_version_id", "runs_agentversion"),
        tenant_fk("runs_step", "run_id", "runs_run"),
        tenant_fk("runs_proposal", "step_id", "runs_step"),
        tenant_fk("runs_attempt", "step_id", "runs_step"),
        tenant_fk("runs_observation", "step_id", "runs_step"),
        tenant_fk("runs_event", "run_id", "runs_run"),
        tenant_fk("runs_startrecord", "run_id", "runs_run"),
        tenant_fk("approvals_approvalrequest", "run_id", "runs_run"),
        tenant_fk("approvals_approvalrequest", "step_id", "runs_step"),
        *(enable_rls(f"runs_{name}") for name in TENANT_TABLES),
        *(append_only(f"runs_{name}") for name in ("agentversion", "proposal", "observation", "event")),
        migrations.RunSQL(RUN_GUARD + STEP_GUARD + ATTEMPT_GUARD + NO_DELETE, UNGUARD),
    ]
