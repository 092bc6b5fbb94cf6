"""Short scenes with one fault each, for the product as it is and for planted mutants of it."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from tests.faults.cluster import Cluster
from tests.faults.desk import Desk
from tests.faults.facts import Facts, gather
from tests.faults.messages import Messages
from tests.faults.oracle import Promises, judge, unsettled
from tests.faults.parts import wait_for_end
from tests.faults.record import Line, seen
from tests.up import until

_numbers = count(1)


class Stage:
    """A cluster with a program that starts runs and bob who decides."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.program = Desk(cluster.url, cluster.keys["service"])
        self.bob = Desk(cluster.url, cluster.keys["bob"])
        self.messages = Messages(cluster)

    def close(self) -> None:
        """End the connections."""
        self.program.close()
        self.bob.close()
        self.messages.close()

    def start(self, agent: str, mode: str = "ok") -> "Scene":
        """A run with a reference of its own."""
        ref = f"{agent}-{next(_numbers)}"
        return Scene(self, self.program.start(agent, ref, mode), ref)

    def approved(self, agent: str, mode: str = "ok") -> "Scene":
        """The same, approved as soon as it asks."""
        scene = self.start(agent, mode)
        assert self.bob.decide(scene.asked()) == 201
        return scene

    def arm(self, point: str, tool: str) -> None:
        """The next worker that reaches this point with this tool ends there."""
        (self.cluster.home / "armed" / f"{point}.{tool}").touch()

    def wait_for_death(self, point: str, tool: str) -> None:
        """Return when it has ended one."""
        until(lambda: not (self.cluster.home / "armed" / f"{point}.{tool}").exists(), 30)
        for mark in (self.cluster.home / "fired").glob(f"{point}.{tool}.*"):
            assert wait_for_end(int(mark.suffix[1:]), 20), mark

    def let_go(self, name: str = "release") -> None:
        """The tool server answers what it holds; this request alone, where `name` says which."""
        (self.cluster.home / name).touch()

    def hold_again(self) -> None:
        """It holds what comes from now on."""
        (self.cluster.home / "release").unlink()

    @contextmanager
    def stopped_workers(self) -> Iterator[None]:
        """Nobody works meanwhile, and nobody knows."""
        for worker in self.cluster.workers:
            worker.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for worker in self.cluster.workers:
                worker.signal(signal.SIGCONT)


class Scene:
    """One run of a stage."""

    def __init__(self, stage: Stage, run: str, ref: str) -> None:
        self.stage, self.run, self.ref = stage, run, ref

    def asked(self, seconds: float = 30) -> str:
        """The request that waits for a person, as soon as there is one."""

        def look() -> str | None:
            return next(iter(self.stage.program.run(self.run)["open_approvals"]), None)

        return until(look, seconds)

    def settled(self, seconds: float = 45) -> "Scene":
        """This, when nothing of it moves by itself any more."""
        until(lambda: not unsettled(self.facts()), seconds)
        return self

    def lease_ends(self) -> "Scene":
        """This, as if the time of its leases had passed, with everybody told to look."""
        query = "UPDATE runs_step SET lease_until = clock_timestamp() WHERE run_id = %s AND status = 'running'"
        self.stage.cluster.sql(query, self.run)
        self.stage.cluster.sql("UPDATE runs_work_item SET due_at = clock_timestamp() WHERE id = %s", self.run)
        self.stage.messages.nudge(self.run)
        return self

    def is_done_once(self) -> None:
        """It ends well: every promise is kept, all succeeded, and the world outside changed once."""
        self.settled()
        assert self.complaints() == []
        assert set(self.statuses()) == {"succeeded"}
        assert [line.acted for line in self.lines()].count(True) == 1

    def complaints(self) -> list[str]:
        """Which promises are broken."""
        return list(judge(self.facts(), Promises()).broken)

    def settled_known(self, seconds: float = 60) -> "Scene":
        """The same, and no outcome is unknown."""

        def is_known(facts: Facts) -> bool:
            return not unsettled(facts) and all(step.status != "unknown" for step in facts.steps)

        until(lambda: is_known(self.facts()), seconds)
        return self

    def facts(self) -> Facts:
        """What is known of this run alone."""
        return gather(self.stage.cluster).only({self.run}, self.ref)

    def statuses(self) -> list[str]:
        """Of its steps."""
        return [step["status"] for step in self.stage.program.steps(self.run)]

    def kinds(self) -> list[str]:
        """Of its events."""
        return [event.kind for event in self.facts().events]

    def lines(self) -> list[Line]:
        """What the world outside saw of it."""
        return [line for line in seen(self.stage.cluster.home) if line.ref.startswith(f"{self.ref}.")]

    def result(self) -> dict[str, Any]:
        """What its only step brought back."""
        (row,) = self.facts().observations
        found: dict[str, Any] = json.loads(row.whole)
        return found


def stale_worker(stage: Stage) -> list[str]:
    """A worker sleeps through its lease and wakes while another makes the call again. What is wrong then."""
    first, second = stage.cluster.workers[:2]
    second.signal(signal.SIGSTOP)
    scene = stage.start("held-look", "held")
    until(lambda: len(scene.lines()) == 1, 30)
    first.signal(signal.SIGSTOP)
    second.signal(signal.SIGCONT)
    scene.lease_ends()
    until(lambda: len(scene.lines()) == 2, 45)
    first.signal(signal.SIGCONT)
    stage.let_go(f"release.{scene.lines()[0].serial}")
    until(lambda: "late_result_refused" in scene.kinds() or scene.statuses() != ["running"], 30)
    complaints = [] if scene.statuses() == ["running"] else ["the stale worker settled the call of the other one"]
    stage.let_go(f"release.{scene.lines()[1].serial}")
    scene.settled()
    return complaints


def lost_message(stage: Stage) -> Scene:
    """Approved, and the message that says so is gone."""
    scene = stage.start("pays")
    request = scene.asked()
    with stage.stopped_workers():
        stage.messages.occupy()
        assert stage.bob.decide(request) == 201
        stage.messages.lose()
    return scene


def changed_arguments(stage: Stage) -> Scene:
    """What would be sent is changed after somebody looked at it."""
    scene = stage.start("pays")
    request = scene.asked()
    step = next(s for s in scene.facts().steps if s.tool == "pay")
    other = json.dumps(json.loads(step.args) | {"amount": "9999.00"})
    file = stage.cluster.home / f"sealed-{step.id}"
    stage.cluster.nursery.start("tamper", "tamper", stage.cluster.keys["tenant"], str(step.id), other, str(file))
    until(file.exists, 20)
    with stage.cluster.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE runs_proposal SET sealed = %s WHERE step_id = %s", [file.read_bytes(), step.id])
    assert stage.bob.decide(request) == 201
    return scene


def dead_worker(stage: Stage, point: str, tool: str, agent: str) -> Scene:
    """A worker is gone at this point of the call; its lease lasts."""
    stage.arm(point, tool)
    scene = stage.approved(agent) if agent != "looks" else stage.start(agent)
    stage.wait_for_death(point, tool)
    return scene


def killed_worker(stage: Stage, point: str, tool: str, agent: str) -> Scene:
    """A worker is gone at this point of the call, and the time of its lease with it."""
    return dead_worker(stage, point, tool, agent).lease_ends()
