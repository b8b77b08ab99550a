/** What others do appears without reloading; what waits is counted in the page's title. */

import { mayCall } from "./access.js";
import { call } from "./calls.js";
import { secret } from "./session.js";

const EVERY = 4_000;
const NOTICE = "concord-notice";

let last = "";
let waiting = 0;
/** @returns {number} how many proposals, reviews and conflicts wait */
export const waits = () => waiting;

/** Asks every few seconds, while the page is seen, whether something changed.
 * @param {() => void} changed what to do then */
export function follow(changed) {
  const look = async () => {
    if (document.hidden || !secret()) return;
    const state = await stateNow().catch(() => last); // the view that is shown says what is wrong
    if (last && state !== last) changed();
    last = state;
  };
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
}

/** A text that differs once anything changed. */
async function stateNow() {
  /** @type {any[]} */
  const [newest, briefing] = await Promise.all([
    mayCall("graph.SpaceService/ListOperations") ? call("graph.SpaceService/ListOperations", { pageSize: 1 }) : {},
    mayCall("governance.ProposalService/GetBriefing") ? call("governance.ProposalService/GetBriefing") : {},
  ]);
  count((briefing.pendingCount ?? 0) + (briefing.reviewCount ?? 0) + Number(briefing.potentialCount ?? 0));
  return JSON.stringify([newest.operations?.[0]?.seq, briefing]);
}

/** @param {number} now */
function count(now) {
  if (now > waiting && noticesAreOn()) new Notification("Concord", { body: `${now} wait for a decision.`, tag: "concord" });
  waiting = now;
  document.title = document.title.replace(/^\(\d+\) /, "");
  if (now) document.title = `(${now}) ${document.title}`;
}

/** Whether the browser is to say when more waits; off unless somebody turns it on. */
export const noticesAreOn = () => localStorage.getItem(NOTICE) === "on" && globalThis.Notification?.permission === "granted";

/** Turns notices on, if the browser lets them, or off. @returns {Promise<boolean>} whether they are on */
export async function switchNotices() {
  const on = !noticesAreOn() && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(NOTICE, on ? "on" : "off");
  return on;
}
