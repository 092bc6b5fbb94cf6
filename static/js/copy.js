// Buttons with data-copy="text" put the text on the clipboard and say so; where there is none they stay hidden.
const MOMENT = 1500;

function show() {
  if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
}

async function clicked(event) {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.was) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.was = button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => {
    button.textContent = button.dataset.was;
    delete button.dataset.was;
  }, MOMENT);
}

export function startCopy() {
  show();
  document.addEventListener("click", clicked);
  document.addEventListener("htmx:afterSettle", show);
}
