// The socket that says which row changed; after a gap everything visible is read again.
import { isLive, markConnected } from "./mark.js";
import { refreshFor } from "./refresh.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const POLL = 20000;
const SIGNED_OUT = 4401;
// Every open page is told of the same gap: they come one after another.
const SPREAD = 1000;

let wait = FIRST_WAIT;
// From the rendering of the page to the first opening is a gap like any other.
let hadGap = true;

function address() {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
}

function opened() {
  wait = FIRST_WAIT;
  markConnected(true);
  if (hadGap) refreshFor();
  hadGap = false;
}

function received({ data }) {
  const fact = JSON.parse(data);
  if (fact.type === "row.changed") refreshFor(fact);
  if (fact.type === "facts.missed") setTimeout(refreshFor, Math.random() * SPREAD);
}

function closed({ code }) {
  markConnected(false);
  hadGap = true;
  if (code === SIGNED_OUT) return location.reload();
  setTimeout(connect, wait * (0.7 + Math.random() * 0.6));
  wait = Math.min(wait * 2, LONGEST_WAIT);
}

function connect() {
  const socket = new WebSocket(address());
  socket.addEventListener("open", opened);
  socket.addEventListener("message", received);
  socket.addEventListener("close", closed);
}

function readAgain() {
  if (!isLive() && !document.hidden) refreshFor();
}

export function startLive() {
  if (!document.querySelector("[data-live-mark]")) return;
  connect();
  setInterval(readAgain, POLL);
  addEventListener("online", () => refreshFor());
  document.addEventListener("visibilitychange", readAgain);
}
