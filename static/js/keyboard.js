// Letters move and open; they never decide. Off while typing, in dialogs, and when switched off.
import { openDialog } from "./dialogs.js";

function rows() {
  return [...document.querySelectorAll("[data-row]")];
}

function move(step) {
  const all = rows();
  if (!all.length) return false;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next.querySelector("a").focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function confirmStep(name) {
  const row = document.activeElement?.closest("[data-row]");
  if (row) {
    location.assign(`${row.querySelector("a").href}?step=${name}`);
    return true;
  }
  const opener = document.querySelector(`[data-key="${name}"]`);
  return Boolean(opener && !opener.disabled && openDialog(opener.dataset.dialog));
}

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => confirmStep("approve"),
  r: () => confirmStep("reject"),
  "?": () => openDialog("key-help"),
};

function isTyping({ target }) {
  return target.closest?.("input, textarea, select, [contenteditable], dialog[open]") !== null;
}

function pressed(event) {
  if (event.key !== "?" && document.documentElement.dataset.keys === "off") return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && /^[ar]$/i.test(event.key)) return;
  if (isTyping(event)) return;
  if (ACTIONS[event.key.toLowerCase()]?.()) event.preventDefault();
}

export function startKeyboard() {
  document.addEventListener("keydown", pressed);
}
