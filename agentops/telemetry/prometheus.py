"""The figures in the format of Prometheus. Labels are words of the product, so their number is bounded."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from types import SimpleNamespace

from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from runs.domain.run import OPEN, TerminalReason, event_of
from runs.figures import CALL_SECONDS, DECISION_SECONDS, Figures

QUEUES = ("control", "sandbox")
RISKS = ("read", "write", "destructive")


def exposition(figures: Figures) -> bytes:
    """The page that Prometheus reads."""
    page: bytes = generate_latest(SimpleNamespace(collect=lambda: families(figures)))
    return page


def families(figures: Figures) -> Iterator[Metric]:
    """Every metric with its samples."""
    yield from _now(figures)
    yield from _ended(figures)
    calls = HistogramMetricFamily("agentops_tool_call_seconds", "From claim to result.", labels=("kind", "risk"))
    yield _filled(calls, "call", CALL_SECONDS, figures)
    waits = HistogramMetricFamily("agentops_decision_seconds", "From question to end.", labels=("outcome", "risk"))
    yield _filled(waits, "decision", DECISION_SECONDS, figures)


def _now(figures: Figures) -> Iterator[Metric]:
    queues = {name: figures.queues.get(name, (0, 0.0)) for name in QUEUES}
    open_runs = {status.value: figures.now.get(("run", status.value), (0, 0.0)) for status in OPEN}
    asked = {risk: figures.now.get(("request", risk), (0, 0.0)) for risk in RISKS}
    unknown = {risk: figures.now.get(("unknown", risk), (0, 0.0)) for risk in RISKS}
    yield _gauge("agentops_queue_depth", "Runs that are due.", "queue", _numbers(queues))
    yield _gauge("agentops_queue_oldest_seconds", "How long the first of them waits.", "queue", _ages(queues))
    yield _gauge("agentops_runs_open", "Runs under way.", "status", _numbers(open_runs))
    yield _gauge("agentops_approvals_pending", "Calls that wait for people.", "risk", _numbers(asked))
    yield _gauge("agentops_approvals_oldest_seconds", "How long the first of them waits.", "risk", _ages(asked))
    yield _gauge("agentops_outcomes_unknown", "Calls whose outcome nobody knows.", "risk", _numbers(unknown))


def _ended(figures: Figures) -> Iterator[Metric]:
    number = figures.ended.number
    runs = CounterMetricFamily("agentops_runs_ended", "Runs that ended.", labels=("status", "terminal_reason"))
    budgets = CounterMetricFamily("agentops_budget_exhaustions", "Runs that a budget ended.", labels=("budget",))
    for reason in TerminalReason:
        count = number["run", event_of(reason).value, reason.value, 0]
        runs.add_metric((event_of(reason).value, reason.value), count)
        if reason.value.endswith("_budget"):
            budgets.add_metric((reason.value.removesuffix("_budget"),), count)
    steps = CounterMetricFamily("agentops_steps_settled", "Proposed calls that are over.", labels=("outcome", "risk"))
    for (what, outcome, risk, _), count in sorted(number.items()):
        if what == "step":
            steps.add_metric((outcome, risk), count)
    yield from (runs, budgets, steps)


def _gauge(name: str, says: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, says, labels=(label,))
    for word, value in sorted(values.items()):
        family.add_metric((word,), value)
    return family


def _filled(family: HistogramMetricFamily, what: str, bounds: Sequence[float], figures: Figures) -> Metric:
    number, seconds = figures.ended.number, figures.ended.seconds
    places = range(len(bounds) + 1)
    for labels in sorted({(one, other) for kind, one, other, _ in number if kind == what}):
        counts = accumulate(number[what, *labels, place] for place in places)
        buckets = list(zip((*map(str, bounds), "+Inf"), counts, strict=True))
        family.add_metric(labels, buckets, sum(seconds[what, *labels, place] for place in places))
    return family


def _numbers(found: Mapping[str, tuple[int, float]]) -> dict[str, float]:
    return {word: number for word, (number, _) in found.items()}


def _ages(found: Mapping[str, tuple[int, float]]) -> dict[str, float]:
    return {word: age for word, (_, age) in found.items()}
