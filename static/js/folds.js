// Remembers which folded values a person opened and unlocks the approval once all of them were.
const opened = new Set();

function folds() {
  return [...document.querySelectorAll("[data-folds] details[data-fold]")];
}

function sync() {
  const left = folds().filter((fold) => !opened.has(fold.dataset.fold));
  for (const form of document.querySelectorAll("form[data-needs-folds]")) write(form);
  for (const button of document.querySelectorAll("[data-unlocked-by-folds]")) button.disabled = left.length > 0;
  for (const node of document.querySelectorAll("[data-folds-left]")) {
    node.hidden = left.length === 0;
    const count = node.querySelector("[data-count]");
    if (count) count.textContent = String(left.length);
  }
}

function write(form) {
  for (const old of form.querySelectorAll("input[name=opened]")) old.remove();
  for (const fold of opened) {
    const input = Object.assign(document.createElement("input"), { type: "hidden", name: "opened", value: fold });
    form.append(input);
  }
}

function toggled(event) {
  if (!event.target.matches?.("details[data-fold]")) return;
  if (event.target.open) opened.add(event.target.dataset.fold);
  sync();
}

export function startFolds() {
  document.addEventListener("toggle", toggled, true);
  document.addEventListener("htmx:afterSettle", sync);
  for (const fold of folds()) if (fold.open) opened.add(fold.dataset.fold);
  sync();
}
