// Keeps <time data-relative> in step with the clock; the server wrote the first text, title holds the absolute time.
const UNITS = [["day", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function spell(seconds) {
  const size = Math.abs(seconds);
  const [name, length] = UNITS.find(([, unit]) => size >= unit) ?? UNITS[3];
  const count = Math.floor(size / length);
  const unit = name === "day" && count !== 1 ? "days" : name;
  return `${count} ${unit}`;
}

function relative(node, now) {
  const seconds = (Date.parse(node.dateTime) - now) / 1000;
  if (node.dataset.relative === "elapsed") return spell(Math.min(seconds, 0));
  if (node.dataset.relative === "until") return seconds <= 0 ? node.dataset.past ?? "now" : `in ${spell(seconds)}`;
  return Math.abs(seconds) < 2 ? "just now" : `${spell(seconds)} ago`;
}

function tick(root = document) {
  const now = Date.now();
  for (const node of root.querySelectorAll("time[data-relative]")) {
    const text = relative(node, now);
    if (node.textContent !== text) node.textContent = text;
    const left = (Date.parse(node.dateTime) - now) / 1000;
    if (node.dataset.relative === "until") node.classList.toggle("soon", left < 900);
  }
}

export function startClock() {
  tick();
  setInterval(tick, 1000);
  document.addEventListener("htmx:afterSettle", () => tick());
}
