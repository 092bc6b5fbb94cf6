// The mark *live / reconnecting / stale since 14:02:11* in the rail.
let since = new Date();
let isStale = false;
let isConnected = false;

const clock = (date) => date.toLocaleTimeString("en-GB");

function show() {
  const state = isStale ? "stale" : isConnected ? "live" : "reconnecting";
  for (const mark of document.querySelectorAll("[data-live-mark]")) {
    const words = { live: mark.dataset.wordLive, reconnecting: mark.dataset.wordReconnecting, stale: `${mark.dataset.wordStale} ${clock(since)}` };
    if (mark.dataset.state === state && mark.textContent === words[state]) continue;
    mark.dataset.state = state;
    mark.textContent = words[state];
  }
}

export function markFresh() {
  since = new Date();
  isStale = false;
  show();
}

export function markStale() {
  isStale = true;
  show();
}

export function markConnected(connected) {
  isConnected = connected;
  show();
}

export const isLive = () => isConnected && !isStale;
