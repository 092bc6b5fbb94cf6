// Applies theme and keyboard choices at once; the form that holds them saves them in a cookie on the server.
function submitted(event) {
  const form = event.target.closest("form[data-preference]");
  if (!form) return;
  event.preventDefault();
  const { value } = event.submitter;
  const name = form.dataset.preference;
  const body = new FormData(form, event.submitter);
  document.documentElement.dataset[name] = value;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === value));
  fetch(form.action, { method: "POST", keepalive: true, body, headers: { "HX-Request": "true" } });
}

export function startPreferences() {
  document.addEventListener("submit", submitted);
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector("details.account[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    const menu = document.querySelector("details.account[open]");
    if (menu && !menu.contains(event.target)) menu.open = false;
  });
}
