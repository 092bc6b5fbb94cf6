// Keeps what a person opened, and where the focus was, when a part of the page is read anew.
function nameOf(details) {
  const within = details.parentElement.closest("details[id]")?.id ?? "";
  return details.id || (details.dataset.fold === undefined ? "" : `${within} ${details.dataset.fold}`);
}

function named(root) {
  return [...root.querySelectorAll("details")].filter(nameOf);
}

function twinOf(root, old) {
  const row = old.closest("[data-row]");
  if (row) return root.querySelector(`#${row.id} a`);
  const same = {
    SUMMARY: (now) => nameOf(now.parentElement) === nameOf(old.parentElement),
    A: (now) => now.getAttribute("href") === old.getAttribute("href"),
  };
  const alike = same[old.tagName] ?? ((now) => now.textContent === old.textContent);
  return [...root.querySelectorAll(old.tagName)].find(alike);
}

function again(opened, id, which) {
  const root = document.getElementById(id);
  for (const one of root ? named(root).filter(which) : []) if (opened.has(nameOf(one))) one.open = true;
  return root;
}

export function keepAround(node) {
  const { id } = node;
  const opened = new Set(named(node).filter((one) => one.open).map(nameOf));
  const focused = node.contains(document.activeElement) && !document.activeElement.id ? document.activeElement : null;
  const swapped = () => {
    const root = again(opened, id, (one) => one.id);
    if (root && focused) twinOf(root, focused)?.focus({ preventScroll: true });
  };
  // A long value is fetched when it opens, which htmx hears of no sooner than this.
  const settled = ({ target }) => {
    if (target.id !== id) return;
    document.removeEventListener("htmx:afterSettle", settled);
    again(opened, id, (one) => !one.id);
  };
  document.addEventListener("htmx:afterSwap", swapped, { once: true });
  document.addEventListener("htmx:afterSettle", settled);
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}

export function startKeep() {
  addEventListener("hashchange", openTarget);
  openTarget();
}
