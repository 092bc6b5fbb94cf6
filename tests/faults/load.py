"""The load of a campaign: programs that start mixed runs and people who decide about them, all over REST."""

import random
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import psycopg

from tests.faults.cluster import Cluster
from tests.faults.desk import Desk
from tests.faults.facts import gather, reference
from tests.faults.oracle import Promises

MODES = {
    "free": ("ok", "ok"),
    "looks": ("cut", "hang"),
    "pays": ("ok", "ok", "slow", "late", "fail", "error", "cut", "shape", "large"),
    "keyed": ("ok", "slow", "cut", "error", "hang"),
    "once": ("ok", "slow", "cut", "error"),
    "parallel": ("ok", "slow"),
    "two": ("ok", "slow"),
}
MIX = tuple((agent, mode) for agent, modes in MODES.items() for mode in modes)
PEOPLE = ("at once", "at once", "soon", "soon", "late", "reject", "cancel", "forget")
RUN_SECONDS = 40.0
"""A program watches its run so long, and then starts the next one; the run goes on without it."""


class Load:
    """`programs` threads; each starts a run, and its person decides as that person does."""

    def __init__(self, cluster: Cluster, seed: str, programs: int) -> None:
        self.cluster = cluster
        self.promises = Promises()
        self.kinds: Counter[str] = Counter()
        self.faults: list[str] = []
        self.over = threading.Event()
        self._seed = seed
        self._threads = [threading.Thread(target=self._program, args=(n,), daemon=True) for n in range(programs)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Start nothing more, and let everybody finish what they do."""
        self.over.set()
        for thread in self._threads:
            thread.join(RUN_SECONDS + 100)

    def recent(self) -> list[str]:
        """A few runs that were started lately."""
        return list(self.promises.runs.values())[-6:]

    def _program(self, number: int) -> None:
        chance = random.Random(f"{self._seed}-{number}")
        program, bob = (Desk(self.cluster.url, self.cluster.keys[who]) for who in ("service", "bob"))
        place = 0
        while not self.over.is_set():
            place += 1
            agent, mode = chance.choice(MIX)
            person = chance.choice(PEOPLE)
            self.kinds[f"{agent} {mode}, {person}"] += 1
            try:
                self._one(program, bob, f"{self._seed}-{number}-{place}", agent, mode, person, chance)
            except (AssertionError, KeyError, psycopg.Error) as error:
                self.faults.append(f"{agent} {mode}: {error!r}")
        program.close()
        bob.close()

    def _one(
        self, program: Desk, bob: Desk, ref: str, agent: str, mode: str, person: str, chance: random.Random
    ) -> None:
        run = program.start(agent, ref, mode)
        self.promises.runs[ref] = run
        if person == "cancel":
            self.over.wait(chance.uniform(0, 2))
            program.cancel(run)
        ends = time.monotonic() + RUN_SECONDS
        asked: set[str] = set()
        while time.monotonic() < ends and not self.over.is_set():
            found = program.run(run)
            if found["finished_at"] or (person == "forget" and found["open_approvals"]):
                return
            waiting = [request for request in self._open(person, run, found) if request not in asked]
            for request in waiting:
                asked.add(request)
                self._decide(bob, request, person, chance)
            self.over.wait(0 if waiting else 0.25)

    def _open(self, person: str, run: str, found: dict[str, Any]) -> list[str]:
        """What is pending; who decides at once looks into the database itself, every few milliseconds."""
        if person != "at once":
            return list(found["open_approvals"])
        ends = time.monotonic() + 0.5
        query = "SELECT id::text FROM approvals_approvalrequest WHERE run_id = %s AND status = 'pending'"
        with suppress(psycopg.Error), self.cluster.connect() as connection:
            while time.monotonic() < ends:
                if rows := connection.execute(query, [run]).fetchall():
                    return [str(row[0]) for row in rows]
                time.sleep(0.003)
        return []

    def _decide(self, bob: Desk, request: str, person: str, chance: random.Random) -> None:
        self.over.wait({"soon": chance.uniform(0, 0.3), "late": chance.uniform(2, 6)}.get(person, 0))
        verdict = "reject" if person == "reject" else "approve"
        if bob.decide(request, verdict) == 201:
            self.promises.decisions.append((request, verdict))


def tell_what_happened(cluster: Cluster) -> int:
    """A person looks up every other unknown outcome outside and reconciles it. Returns how many."""
    facts, told = gather(cluster), 0
    alice = Desk(cluster.url, cluster.keys["alice"])
    effects = facts.effects()
    for step in [s for s in facts.steps if s.status == "unknown" and s.tool != "keyed"][::2]:
        outcome = "succeeded" if effects.get(reference(step)) else "failed"
        body = {"outcome": outcome, "evidence": "seen outside"}
        told += alice.ask("POST", f"/steps/{step.id}/reconcile", json=body).status_code == 200
    alice.close()
    return told
