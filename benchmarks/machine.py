"""What the machine says: CPU time of process trees, memory, load. Only the standard library: peers use it too."""

import json
import os
import platform
import re
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], p: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(p / 100 * (len(ordered) - 1)))]


def spread(values: list[float]) -> dict[str, float]:
    """p50, p99 and how many."""
    return {"p50": round(percentile(values, 50), 2), "p99": round(percentile(values, 99), 2), "n": len(values)}


def tree(root: int) -> list[int]:
    """A process and its living descendants."""
    children: dict[int, list[int]] = {}
    for pid in _pids():
        if stat := _stat(pid):
            children.setdefault(int(stat[1]), []).append(pid)
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def cpu_of(*roots: int) -> float:
    """CPU seconds of these process trees, including what they have reaped."""
    pids = {pid for root in roots for pid in tree(root)}
    return sum(sum(map(int, stat[11:15])) for pid in pids if (stat := _stat(pid))) / _TICK


def own_cpu() -> float:
    """CPU seconds of this process, finely."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def pss_of(*roots: int) -> float:
    """Proportional set size of these process trees in MB; 0.0 where the system does not say."""
    total = 0
    for pid in {pid for root in roots for pid in tree(root)}:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(found[1]) if (found := re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)) else 0
    return round(total / 1024, 1)


@dataclass(frozen=True)
class Race:
    """One contestant's runs: `one` is called for each of `runs`, by `at_once` threads.

    `roots`: the process trees that count beside this process. `ignored`: CPU seconds of what only looks.
    `commits`: the number of the last transaction that wrote, where there is a database.
    """

    runs: int
    at_once: int
    roots: tuple[int, ...]
    ignored: Callable[[], float] = float
    commits: Callable[[], int] | None = None

    def of[R](self, one: Callable[[int], R]) -> tuple[dict[str, float], list[R]]:
        """Warm up, then measure. Returns the figures, and what `one` returned for each run."""
        with ThreadPoolExecutor(self.at_once) as threads:
            list(threads.map(one, range(3 * self.at_once)))
            cpu, wrote, began = self._cpu(), self._wrote(), time.perf_counter()
            found = list(threads.map(one, range(self.runs)))
            took = time.perf_counter() - began
            cpu, wrote = self._cpu() - cpu, self._wrote() - wrote
            figures = {
                "runs_s": round(self.runs / took, 1),
                "steps_s": round(5 * self.runs / took, 1),
                "cpu_ms": round(cpu / self.runs * 1000, 1),
                "memory_mb": pss_of(os.getpid(), *self.roots),
            }
        if self.commits is not None:
            # Asking for the number took one.
            figures["commits_step"] = round((wrote - 1) / self.runs / 5, 2)
        return figures, found

    def _cpu(self) -> float:
        return own_cpu() + cpu_of(*self.roots) - self.ignored()

    def _wrote(self) -> int:
        return self.commits() if self.commits is not None else 0


def described() -> dict[str, str]:
    """The machine, for the head of a table."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    load = " ".join(f"{x:.2f}" for x in os.getloadavg())
    return {
        "machine": f"{os.cpu_count()} x {model[1] if model else platform.machine()}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load when it began": load,
    }


def emit(**result: object) -> None:
    """How a contestant reports."""
    print("RESULT " + json.dumps(result), flush=True)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []
