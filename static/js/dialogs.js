// Opens <dialog>s from links and buttons with data-dialog="id"; without JavaScript the links lead to the same form.
export function openDialog(id) {
  const dialog = document.getElementById(id);
  if (!(dialog instanceof HTMLDialogElement) || dialog.matches(":modal")) return false;
  dialog.close();
  dialog.showModal();
  dialog.querySelector("[autofocus]")?.focus();
  return true;
}

function clicked(event) {
  const opener = event.target.closest("[data-dialog]");
  if (opener && opener.getAttribute("aria-disabled") === "true") return event.preventDefault();
  if (opener && openDialog(opener.dataset.dialog)) return event.preventDefault();
  const closer = event.target.closest("[data-close]");
  if (closer) {
    event.preventDefault();
    closer.closest("dialog")?.close();
  }
  if (event.target instanceof HTMLDialogElement && outside(event)) event.target.close();
}

function pressed(event) {
  if (event.key !== " " || !event.target.matches?.('a[role="button"]')) return;
  event.preventDefault();
  event.target.click();
}

function outside({ target, clientX, clientY }) {
  const box = target.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}

function submitted(event) {
  const button = event.submitter;
  if (!event.target.matches("[data-once]") || !button) return;
  if (event.target.dataset.sent) return event.preventDefault();
  event.target.dataset.sent = "yes";
  document.addEventListener("htmx:afterRequest", () => delete event.target.dataset.sent, { once: true });
}

export function startDialogs() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  document.addEventListener("submit", submitted);
  for (const dialog of document.querySelectorAll("dialog[data-open]")) openDialog(dialog.id);
  document.addEventListener("htmx:afterSettle", (event) => {
    for (const dialog of event.target.querySelectorAll?.("dialog[data-open]") ?? []) openDialog(dialog.id);
  });
}
