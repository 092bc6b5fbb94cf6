// Shows one panel of a [data-tabs] group; without JavaScript all panels stand below each other.
function choose(tab) {
  const group = tab.closest("[data-tabs]");
  for (const other of group.querySelectorAll("[role=tab]")) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

function moved(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || !event.target.matches("[role=tab]")) return;
  const tabs = [...event.target.closest("[data-tabs]").querySelectorAll("[role=tab]")];
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  choose(next);
  next.focus();
}

export function startTabs() {
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tabs] [role=tab]");
    if (tab) choose(tab);
  });
  document.addEventListener("keydown", moved);
  for (const group of document.querySelectorAll("[data-tabs]")) {
    group.querySelector("[role=tablist]").hidden = false;
    choose(group.querySelector("[aria-selected=true]"));
  }
}
