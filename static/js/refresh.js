// Refetches the parts of the page that a fact concerns; keeps what is shown when a refetch fails.
import { markFresh, markStale } from "./mark.js";

const waiting = new Set();
let timer;

function concerns(node, fact) {
  return node.dataset.live.split(" ").some((word) => word === fact.kind || word === `${fact.kind}:${fact.id}`);
}

function flush() {
  timer = undefined;
  for (const node of waiting) if (node.isConnected) htmx.trigger(node, "refresh");
  waiting.clear();
}

export function refreshFor(fact) {
  for (const node of document.querySelectorAll("[data-live]")) if (!fact || concerns(node, fact)) waiting.add(node);
  timer ??= setTimeout(flush, 120);
}

function stampOf(html, id) {
  return new DOMParser().parseFromString(html, "text/html").getElementById(id)?.dataset.stamp;
}

function beforeSwap({ detail }) {
  const node = detail.target;
  if (!node?.dataset || detail.requestConfig?.triggeringEvent?.type !== "refresh") return;
  const { stamp } = node.dataset;
  if (stamp && stampOf(detail.serverResponse, node.id) === stamp) detail.shouldSwap = false;
  else keepFocus(node);
}

function keepFocus(node) {
  const row = document.activeElement?.closest?.("[data-row]")?.id;
  if (!row || !node.contains(document.activeElement)) return;
  document.addEventListener("htmx:afterSwap", () => document.querySelector(`#${row} a`)?.focus(), { once: true });
}

function finished({ detail }) {
  if (!detail.requestConfig?.elt?.dataset?.live) return;
  if (detail.successful) markFresh();
  else markStale();
}

export function startRefresh() {
  document.addEventListener("htmx:beforeSwap", beforeSwap);
  document.addEventListener("htmx:afterRequest", finished);
}
