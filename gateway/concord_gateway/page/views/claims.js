/** Claims: changes that somebody asked of what a higher party wrote; settled one by one or together. */

import { mayCall, mayChange, own } from "../access.js";
import { asked } from "../action.js";
import { again, call, change, joined } from "../calls.js";
import { press, setKeys } from "../keys.js";
import { announce, badge, copies, empty, html, item, nothing, refusal, time, word, words } from "../parts.js";
import { go, href } from "../state.js";

const STATES = ["OPEN", "ACCEPTED", "REFUSED", "WITHDRAWN"];

/** The open claims at an item, as badges. @param {any} memory */
export const claimBadges = (memory) =>
  (memory.claims ?? []).map((/** @type {any} */ each) => html`<a class="badge dashed" href=${href("claims", "", { item: memory.id })}
    title=${`claim ${each.number}`}><bdi>${each.claimant}</bdi> claims: ${word(each.action, "CLAIM_ACTION")}</a>`);

/** @param {import("./view.js").Opened} opened */
export function open({ params, signal, update }) {
  const state = params.get("state") ?? "OPEN";
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** What was refused last: it stays until something is done again. @type {unknown} */
  let refused = null;

  async function load(pageToken = "") {
    try {
      const read = (/** @type {string} */ token) => call("graph.ClaimService/ListClaims", {
        state: `CLAIM_STATE_${state}`, claimant: params.get("claimant") ?? "", itemId: params.get("item") ?? "", pageSize: 100, pageToken: token,
      }, signal);
      got = pageToken ? joined(got, await read(pageToken), "claims") : await again(read, "claims", got?.claims?.length ?? 0);
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
  }

  const settle = (/** @type {string} */ method, /** @type {object} */ named) => async () => {
    try {
      refused = null;
      const { claims = [] } = await change(`graph.ClaimService/${method}`, { named });
      announce(`${claims.length} settled.`);
      await load();
    } catch (error) {
      refused = error;
      update();
    }
  };

  setKeys([{ key: "a", does: "accept the claim", act: press("accept") }, { key: "r", does: "refuse the claim", act: press("refuse") }]);
  return {
    load: () => load(),
    draw: () => html`<h1>Claims</h1>
      <p class="quiet">An agent, or a tool, asked to replace, change or forget what a higher party wrote. The older item stays as it is until its owner settles it.</p>
      <div class="row"><label>State <select @change=${(/** @type {Event} */ event) => go({ state: /** @type {HTMLSelectElement} */ (event.target).value })}>
        ${STATES.map((each) => html`<option value=${each} .selected=${each === state}>${each.toLowerCase()}</option>`)}</select></label>
        ${["claimant", "item"].map((name) => params.get(name) ? html`<button class="small" @click=${() => go({ [name]: "" })}>${name} <bdi>${params.get(name)}</bdi> ✕</button>` : nothing)}</div>
      ${refusal(failed)} ${refusal(refused)}
      ${params.get("claimant") && state === "OPEN" && got?.claims?.length > 1 && got.claims.every(maySettle) ? together(params.get("claimant"), got.claims, settle) : nothing}
      ${!got ? html`<p class="quiet">Loading…</p>` : (got.claims ?? []).length === 0 ? empty("No claim is here: nobody asked to change what a higher party wrote.") : got.claims.map((/** @type {any} */ each) => card(each, settle))}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More, of ${got.total}</button>` : nothing}`,
  };
}

/** Its owner settles a claim, or a person who governs. @param {any} claim */
const maySettle = (claim) =>
  mayChange("graph.ClaimService/AcceptClaims") && (claim.owner === own.principal || (own.kind === "PRINCIPAL_KIND_HUMAN" && mayCall("governance.ProposalService/ApproveProposal")));

/** @param {any} claim @param {(method: string, named: object) => () => void} settle */
function card(claim, settle) {
  const isOpen = claim.state === "CLAIM_STATE_OPEN";
  return html`<article class="card" data-row>
    <div class="meta">${badge(word(claim.action, "CLAIM_ACTION"), "warn")} <span>claim ${claim.number}</span> <span>by <bdi>${claim.claimant}</bdi> (${claim.claimantKind.toLowerCase()}), ${time(claim.createTime)}</span>
      ${isOpen ? nothing : html`<span>${word(claim.state, "CLAIM_STATE")} by <bdi>${claim.settledBy}</bdi>, ${time(claim.settleTime)}${claim.reason ? html`: ${word(claim.reason, "CLAIM_REASON")}` : nothing}</span>`}</div>
    <div class="sides"><section class="side" aria-label="What stands"><h3>Stands, by <bdi>${claim.owner}</bdi></h3>${item(claim.itemId, claim.itemKind)} ${words(claim.itemStatement)}</section>
      <section class="side" aria-label="What is claimed"><h3>Is claimed</h3>${claim.byId ? item(claim.byId) : html`<p class="quiet">no new item: to ${word(claim.action, "CLAIM_ACTION")} the one that stands</p>`} ${words(claim.byStatement)}</section></div>
    ${claim.asks ? html`<section aria-label="What accepting does"><h3>Accepting does this: ${spokenMethod(claim.method)}</h3>${asksOf(claim.asks)}</section>` : nothing}
    <div class="row">
      ${isOpen && maySettle(claim) ? html`<button data-key="accept" @click=${settle("AcceptClaims", { ids: [claim.id] })}>Accept</button>
        <button data-key="refuse" @click=${settle("RefuseClaims", { ids: [claim.id] })}>Refuse</button>` : nothing}
      ${isOpen && claim.claimant === own.principal && mayChange("graph.ClaimService/WithdrawClaims") ? html`<button @click=${settle("WithdrawClaims", { ids: [claim.id] })}>Withdraw</button>` : nothing}
      ${copies(`concord claim accept ${claim.number}`, claim)}</div>
  </article>`;
}

/** @param {string} method such as "/concord.graph.v1.MemoryService/UpdateMemory" */
const spokenMethod = (method) => method.split("/").at(-1)?.replaceAll(/\B([A-Z])/g, " $1").toLowerCase() ?? "";

/** A request as JSON, cut at 4,000 characters: then as it is. @param {string} text */
function asksOf(text) {
  try {
    return asked(JSON.parse(text));
  } catch {
    return words(text);
  }
}

/** All open claims of one claimant that this page shows, at once.
 * @param {string | null} claimant @param {any[]} claims @param {(method: string, named: object) => () => void} settle */
function together(claimant, claims, settle) {
  const named = { claimant, upToNumber: String(Math.max(...claims.map((each) => Number(each.number)))) };
  return html`<div class="row"><button @click=${settle("AcceptClaims", named)}>Accept all ${claims.length}</button>
    <button @click=${settle("RefuseClaims", named)}>Refuse all ${claims.length}</button></div>`;
}
