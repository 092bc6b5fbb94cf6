// Refetches the parts of the page that a fact concerns; keeps what is shown when a refetch fails.
import { keepAround } from "./keep.js";
import { markFresh, markStale } from "./mark.js";

const MOMENT = 120;
// By id: an answer puts a new element in the place of the one that asked.
const waiting = new Set();
const failed = new Set();
const asking = new WeakSet();
let timer;

function concerns(node, fact) {
  return node.dataset.live.split(" ").some((word) => word === fact.kind || word === `${fact.kind}:${fact.id}`);
}

function plan() {
  timer ??= setTimeout(flush, MOMENT);
}

function flush() {
  timer = undefined;
  for (const id of waiting) {
    const node = document.getElementById(id);
    // What is on its way may be older than the fact: it is read once more after that.
    if (asking.has(node)) continue;
    waiting.delete(id);
    if (node) htmx.trigger(node, "refresh");
  }
}

export function refreshFor(fact) {
  for (const node of document.querySelectorAll("[data-live]")) if (!fact || concerns(node, fact)) waiting.add(node.id);
  plan();
}

function stampOf(html, id) {
  return new DOMParser().parseFromString(html, "text/html").getElementById(id)?.dataset.stamp;
}

function beforeSwap({ detail }) {
  const node = detail.target;
  if (!node?.dataset) return;
  if (detail.requestConfig?.triggeringEvent?.type !== "refresh") {
    // What the node itself asked for has no place to go any more: it is asked for again.
    if (asking.has(node)) waiting.add(node.id);
    return;
  }
  const { stamp } = node.dataset;
  if (stamp && stampOf(detail.serverResponse, node.id) === stamp) detail.shouldSwap = false;
  else keepAround(node);
}

function asks({ detail: { elt } }) {
  if (elt.dataset.live) asking.add(elt);
}

function finished({ detail }) {
  if (waiting.size) plan();
  const node = detail.requestConfig.elt;
  if (!node.dataset.live) return;
  asking.delete(node);
  if (detail.successful) failed.delete(node.id);
  else failed.add(node.id);
  if (failed.size) markStale();
  else markFresh();
}

export function startRefresh() {
  document.addEventListener("htmx:beforeRequest", asks);
  document.addEventListener("htmx:beforeSwap", beforeSwap);
  document.addEventListener("htmx:afterRequest", finished);
}
