/** Today: what waits for somebody, what is at risk, and what changed since the last visit. */

import { mayCall, own } from "../access.js";
import { call } from "../calls.js";
import { badge, empty, healthBadge, html, item, left, nothing, refusal, time, word, words } from "../parts.js";
import { href } from "../state.js";

const VISITED = "concord-visited";

/** @param {import("./view.js").Opened} opened */
export function open({ signal, update }) {
  const key = `${VISITED}/${own.space}/${own.principal}`;
  const since = localStorage.getItem(key) ?? "";
  /** @type {Record<string, any>} */
  const got = {};
  /** @type {Record<string, unknown>} */
  const failed = {};

  const get = async (/** @type {string} */ name, /** @type {string} */ method, /** @type {object} */ request) => {
    if (!mayCall(method)) return;
    try {
      got[name] = await call(method, request, signal);
    } catch (error) {
      failed[name] = error;
    }
    update();
  };

  return {
    load: async () => {
      await Promise.all([
        get("counts", "graph.SpaceService/CountByType", {}),
        get("briefing", "governance.ProposalService/GetBriefing", {}),
        get("claimants", "graph.ClaimService/ListClaimants", { claimsEach: 3 }),
        get("health", "search.MemoryHealthService/AssessHealth", { statuses: ["HEALTH_STATUS_AT_RISK"], pageSize: 10 }),
        get("changes", "graph.SpaceService/ListOperations", { pageSize: 30, ...(since && { since }) }),
      ]);
      localStorage.setItem(key, new Date().toISOString());
    },
    draw: () => html`<h1>Today</h1>
      ${Object.values(failed).map(refusal)}
      ${counts(got.counts)} ${waiting(got.briefing)} ${claims(got.claimants)} ${atRisk(got.health)} ${changes(got.changes, since)}`,
  };
}

/** @param {any} counted */
function counts(counted) {
  if (!counted) return nothing;
  const shown = /** @type {const} */ ([["memories", "memories"], ["nodes", "nodes"], ["edges", "edges"], ["episodes", "episodes"]]);
  if (!Number(counted.memories))
    return empty(html`Nothing is stored in this space yet. <a href=${href("memories", "", { add: "1" })}>Add a memory</a>, or run
      <code>concord import</code> with your notes or chats.`);
  return html`<div class="tally">
    ${shown.map(([field, name]) => html`<a href=${href(field === "memories" || field === "episodes" ? "memories" : "graph")}><b>${Number(counted[field] ?? 0).toLocaleString()}</b>${name}</a>`)}
  </div>`;
}

/** @param {any} briefing */
function waiting(briefing) {
  if (!briefing) return nothing;
  const lines = [...(briefing.reviews ?? []), ...(briefing.proposals ?? [])];
  return html`<h2>Waits for a decision</h2>
    ${briefing.graphRolledBack ? html`<p>${badge("attention", "bad")} The store is older than its audit log: it was restored.</p>` : nothing}
    ${lines.length === 0 ? html`<p class="quiet">No proposal waits.</p>` : html`<table class="folds"><thead><tr><th>Proposal</th><th>What changes</th><th>Missing</th><th>Ends</th></tr></thead>
      <tbody>${lines.map((each) => html`<tr data-row>
        <td class="short"><a href=${href("proposals", each.proposalId)}>${each.number} ${word(each.kind, "PROPOSAL_KIND")}</a></td>
        <td data-name="Changes">${words(each.summary)}</td>
        <td data-name="Missing">${(each.missingSlots ?? []).map((/** @type {string} */ slot) => badge(word(slot, "SLOT"), "warn"))}</td>
        <td data-name="Ends">${left(each.expireTime)}</td></tr>`)}</tbody></table>`}
    ${more((briefing.pendingCount ?? 0) + (briefing.reviewCount ?? 0) - lines.length, "proposals")}
    <h2>Disagreements</h2>
    <p>${Number(briefing.potentialCount ?? 0)} to review, ${Number(briefing.confirmedCount ?? 0)} confirmed and open.
      <a href=${href("conflicts")}>Review them</a></p>
    ${(briefing.conflicts ?? []).map((/** @type {any} */ each) => html`<article class="card" data-row>
      <a href=${href("conflicts", each.conflictId)}>${badge(each.state === "CONFLICT_STATE_POTENTIAL" ? "Review conflict?" : "confirmed", each.state === "CONFLICT_STATE_POTENTIAL" ? "dashed" : "warn")}
        ${word(each.conflictClass, "CONFLICT_CLASS")}</a>
      <div class="sides"><div>${words(each.firstStatement)}</div><div>${words(each.secondStatement)}</div></div></article>`)}
    ${more(Number(briefing.potentialCount ?? 0) + Number(briefing.confirmedCount ?? 0) - (briefing.conflicts ?? []).length, "conflicts")}`;
}

/** How many more there are than are shown. @param {number} count @param {string} view that lists them */
const more = (count, view) => (count > 0 ? html`<p><a href=${href(view)}>and ${count.toLocaleString()} more</a></p>` : nothing);

/** @param {any} said */
function claims(said) {
  const claimants = said?.claimants ?? [];
  if (claimants.length === 0) return nothing;
  return html`<h2>Claims</h2>
    <p class="quiet">Changes that were asked of something a higher party wrote. Nothing changes until they are settled.</p>
    ${claimants.map((/** @type {any} */ each) => html`<p data-row><a href=${href("claims", "", { claimant: each.claimant })}><bdi>${each.claimant}</bdi></a> has ${each.openCount} open.</p>`)}`;
}

/** @param {any} health */
function atRisk(health) {
  const memories = health?.memories ?? [];
  if (memories.length === 0) return nothing;
  return html`<h2>At risk</h2><table class="folds"><thead><tr><th>Memory</th><th>Why</th></tr></thead>
    <tbody>${memories.map((/** @type {any} */ each) => html`<tr data-row><td>${item(each.memoryId)} ${words(each.statement)}</td>
      <td data-name="Why">${healthBadge(each.health)} ${(each.health?.reasons ?? []).join("; ")}</td></tr>`)}</tbody></table>`;
}

/** @param {any} said @param {string} since */
function changes(said, since) {
  const operations = said?.operations ?? [];
  if (!said) return nothing;
  return html`<h2>${since ? html`Changed since your last visit, ${time(since)}` : "Latest changes"}</h2>
    ${operations.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<table class="folds"><thead><tr><th>When</th><th>Who</th><th>What</th><th>Item</th></tr></thead>
      <tbody>${operations.map((/** @type {any} */ each) => html`<tr data-row><td class="short">${time(each.recordTime)}</td><td data-name="Who"><bdi>${each.principal}</bdi></td>
        <td data-name="What">${word(each.itemKind, "ITEM_KIND")} ${word(each.type, "CHANGE_TYPE")}</td><td>${item(each.itemId, each.itemKind)}</td></tr>`)}</tbody></table>`}`;
}
