/** What others do appears without reloading; what waits is counted in the page's title. */

import { mayCall } from "./access.js";
import { call, wentUnanswered } from "./calls.js";
import { secret } from "./session.js";

/** Seconds between two looks: while somebody uses the page, once nobody has for a while, and while it
 * is hidden, where only a notice could come of it. */
const EVERY = { used: 4, idle: 20, hidden: 60 };
const IDLE_AFTER = 120;
const NOTICE = "concord-notice";

let last = "";
let reachable = true;
/** Whether a view may show that nothing answered. */
let missed = false;
let waiting = 0;
let used = Date.now();
let looked = 0;
/** @returns {number} how many proposals, reviews and conflicts wait */
export const waits = () => waiting;

/** Asks now and then whether something changed, and after a lost connection, whether it is back.
 * @param {() => boolean} changed shows it; false if that has to wait
 * @returns {() => Promise<void>} asks at once: before a view reads, lest a change between the two be missed */
export function follow(changed) {
  const look = async () => {
    if (!secret() || (document.hidden && !noticesAreOn())) return;
    looked = Date.now();
    missed = wentUnanswered() || missed || !reachable;
    const state = await stateNow().catch(() => null); // the view that is shown says what is wrong
    reachable = state !== null;
    if (state === null || document.hidden) return;
    if (((last && state !== last) || missed) && !changed()) return;
    [last, missed] = [state, false];
  };
  const lookNow = () => Date.now() - looked > 1000 * EVERY.used && look();
  setInterval(() => Date.now() - looked >= 1000 * pause() && look(), 1000);
  document.addEventListener("visibilitychange", lookNow);
  for (const each of ["pointerdown", "keydown", "wheel"])
    addEventListener(each, () => {
      used = Date.now();
      lookNow();
    }, { passive: true });
  return look;
}

function pause() {
  if (document.hidden) return EVERY.hidden;
  return reachable && Date.now() - used > 1000 * IDLE_AFTER ? EVERY.idle : EVERY.used;
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
