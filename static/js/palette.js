// The command palette: Ctrl-K opens it, words narrow the server's list of links, arrows move, Enter follows.
import { openDialog } from "./dialogs.js";

const palette = () => document.querySelector("[data-palette]");
const field = () => palette().querySelector("input");
const links = () => [...palette().querySelectorAll("li:not([hidden]) a")];

function narrow() {
  const text = field().value.trim();
  const words = text.toLowerCase().split(/\s+/);
  for (const item of palette().querySelectorAll("li")) {
    const link = item.querySelector("a");
    if (link.dataset.search) {
      item.hidden = !text;
      link.href = link.dataset.search + encodeURIComponent(text);
      link.querySelector("q").textContent = text;
    } else item.hidden = !words.every((word) => link.textContent.toLowerCase().includes(word));
  }
  palette().querySelector("[data-count]").textContent = String(links().length);
}

function open() {
  if (document.querySelector("dialog:modal")) return;
  field().value = "";
  narrow();
  openDialog(palette().id);
}

function move(step) {
  const stops = [field(), ...links()];
  const at = stops.indexOf(document.activeElement);
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
}

function pressed(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return open();
  }
  if (!palette().contains(event.target)) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) move(step);
  else if (event.key === "Enter" && event.target === field()) links()[0]?.click();
  else return;
  event.preventDefault();
}

export function startPalette() {
  for (const node of document.querySelectorAll("[data-scripted]")) node.hidden = false;
  if (!palette()) return;
  document.addEventListener("keydown", pressed);
  palette().addEventListener("input", narrow);
  for (const opener of document.querySelectorAll("[data-opens-palette]")) opener.addEventListener("click", open);
}
