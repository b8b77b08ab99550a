/** Conflicts: two sides beside one another, and three ways to settle them. */

import { mayChange } from "../access.js";
import { call, change } from "../calls.js";
import { press, setKeys } from "../keys.js";
import { announce, ask, badge, choice, copies, day, difference, empty, html, item, nothing, quoted, refusal, time, word, words } from "../parts.js";
import { render } from "../vendor/lit-html/lit-html.js";
import { asOf, go, href, inThePast } from "../state.js";

const STATES = ["POTENTIAL", "CONFIRMED", "EXCEPTION", "RESOLVED", "DISMISSED"];
const CLASSES = ["EVOLUTION", "CONTRADICTION", "NUANCE"];
/** It knows of proposals that wait, and graph of the past. */
const LIST = "dissonance.DissonanceService/ListConflicts";
const REVIEW = "dissonance.DissonanceService/ReviewConflict";
const RESOLVE = "dissonance.DissonanceService/ResolveDissonance";

/** @param {import("./view.js").Opened} opened */
export function open({ id, params, signal, update }) {
  const states = params.get("state") ? [params.get("state")] : id ? [] : ["POTENTIAL", "CONFIRMED"];
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;

  async function load(pageToken = "") {
    try {
      if (id) {
        const { conflict } = await call("graph.ConflictService/GetConflict", { id, ...asOf() }, signal);
        got = { conflicts: conflict ? [conflict] : [] };
      } else {
        const next = await call(inThePast() ? "graph.ConflictService/ListConflicts" : LIST, { ...asOf(),
          states: states.map((each) => `CONFLICT_STATE_${each}`), pageSize: 50, pageToken,
          ...(params.get("class") && { classes: [`CONFLICT_CLASS_${params.get("class")}`] }),
        }, signal);
        got = pageToken ? { ...next, conflicts: [...got.conflicts, ...(next.conflicts ?? [])] } : next;
      }
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
  }

  /** @param {string} method @param {object} request @param {string} did */
  async function settle(method, request, did) {
    try {
      const reply = await change(method, request);
      announce(reply.proposalNumber && reply.proposalNumber !== "0" ? `It touches what is constitutive: proposal ${reply.proposalNumber} waits for both.`
        : reply.outcome === "WRITE_OUTCOME_CLAIMED" ? "Recorded as a claim: its owner settles it." : `${did} Press u to undo it.`);
      await load();
    } catch (error) {
      failed = error;
      update();
    }
  }

  /** @type {any} */
  let last = null;
  const actions = actionsOf(settle, (conflict) => (last = conflict));
  setKeys([
    { key: "a", does: "confirm the conflict", act: press("confirm") },
    { key: "r", does: "dismiss it", act: press("dismiss") },
    { key: "e", does: "keep it as an exception", act: press("except") },
    { key: "u", does: "undo the last one", act: () => last && actions.reopen(last) },
  ]);
  return {
    load: () => load(),
    draw: () => html`<h1>Conflicts</h1>
      ${id ? html`<p><a href=${href("conflicts")}>All conflicts</a></p>` : filters(params)}
      ${refusal(failed)}
      ${!got ? html`<p class="quiet">Loading…</p>` : shown(got.conflicts ?? [], got.proposals ?? {}, actions)}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More</button>` : nothing}`,
  };
}

/** @param {(method: string, request: object, did: string) => Promise<void>} settle @param {(conflict: any) => void} remember */
function actionsOf(settle, remember) {
  /** @param {any} conflict @param {string} action @param {object} more @param {string} did */
  const review = (conflict, action, more, did) => {
    remember(conflict);
    return settle(REVIEW, { conflictId: conflict.id, action: `REVIEW_ACTION_${action}`, ...more }, did);
  };
  const context = (/** @type {string} */ title, /** @type {string} */ yes) =>
    ask({ title, fields: [{ name: "context", label: "Why, or in which context both hold", type: "textarea", required: true }], yes }, render);
  return {
    confirm: (/** @type {any} */ each) => review(each, "CONFIRM", { etag: each.etag }, "Confirmed."),
    dismiss: (/** @type {any} */ each) => review(each, "DISMISS", { etag: each.etag }, "Dismissed."),
    except: async (/** @type {any} */ each) => {
      const said = await context("Keep both, as an exception", "Keep both");
      if (said) await review(each, "EXCEPT", { etag: each.etag, context: said.context }, "Kept as an exception.");
    },
    reclassify: (/** @type {any} */ each, /** @type {string} */ to) =>
      review(each, "RECLASSIFY", { etag: each.etag, conflictClass: `CONFLICT_CLASS_${to}`, ...(to === "EVOLUTION" && { olderId: each.olderId || each.first.id }) }, `Now ${to.toLowerCase()}.`),
    reopen: (/** @type {any} */ each) => review(each, "REOPEN", {}, "Reopened."),
    resolve: async (/** @type {any} */ each, /** @type {any} */ gives, /** @type {any} */ stays) => {
      const said = await ask({
        title: "Resolve: which side gives way",
        text: html`<p>Gives way:</p>${words(gives.statement)}<p>Stays:</p>${words(stays.statement)}`,
        fields: [{ name: "context", label: "Why, or in which context", type: "textarea" }],
        yes: "Resolve",
      }, render);
      remember(each);
      if (said) await settle(RESOLVE, { conflictId: each.id, etag: each.etag, resolutionType: each.conflictClass, supersededId: gives.id, context: said.context }, "Resolved.");
    },
  };
}

/** @param {URLSearchParams} params */
function filters(params) {
  return html`<div class="row">${choice(params, "state", "State", STATES, "open")} ${choice(params, "class", "Class", CLASSES, "any")}</div>`;
}

/** @param {any[]} conflicts @param {Record<string, string>} proposals @param {ReturnType<typeof actionsOf>} actions */
function shown(conflicts, proposals, actions) {
  if (conflicts.length === 0) return empty(html`Nothing disagrees here. <code>concord check</code> looks at the whole space.`);
  const groups = Map.groupBy(conflicts, (each) => each.groupId || each.rule || word(each.judge, "JUDGE"));
  return [...groups].map(([name, group]) => html`${group.length > 1 ? html`<h2>${group.length} by <bdi>${group[0].rule || name}</bdi> ${together(group)}</h2>` : nothing}
    ${group.map((each) => card(each, proposals[each.id], actions))}`);
}

/** @param {any[]} group found by one rule */
function together(group) {
  const { rule, groupId, runId } = group[0];
  if ((!rule && !groupId) || !mayChange("dissonance.DissonanceService/DismissConflicts")) return nothing;
  const dismiss = async () => {
    const said = await ask({ title: `Dismiss what this found: ${group.length} shown here`, fields: [{ name: "context", label: "Why", type: "textarea", required: true }], yes: "Dismiss all" }, render);
    if (!said) return;
    const reply = await change("dissonance.DissonanceService/DismissConflicts", { ...(groupId ? { groupId } : { runId, rule }), context: said.context });
    announce(`${reply.dismissedCount ?? 0} dismissed, ${reply.leftCount ?? 0} left.`);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return html`<button class="small" @click=${dismiss}>Dismiss all…</button>`;
}

/** @param {any} conflict @param {string | undefined} proposal the number of the one that waits because of it
 * @param {ReturnType<typeof actionsOf>} actions */
function card(conflict, proposal, actions) {
  const { first, second } = conflict;
  const potential = conflict.state === "CONFLICT_STATE_POTENTIAL";
  const settled = !potential && conflict.state !== "CONFLICT_STATE_CONFIRMED";
  return html`<article class="card" data-row>
    <div class="meta"><a href=${href("conflicts", conflict.id)}>${badge(potential ? "Review conflict?" : word(conflict.state, "CONFLICT_STATE"), potential ? "dashed" : "warn")}</a>
      <strong>${word(conflict.conflictClass, "CONFLICT_CLASS")}</strong> <span>${word(conflict.severity, "CONFLICT_SEVERITY")}</span>
      <span>by ${word(conflict.judge, "JUDGE")} <bdi>${conflict.rule || conflict.author}</bdi>${conflict.confidence ? `, ${Number(conflict.confidence).toFixed(2)}` : ""}</span> <span>${time(conflict.createTime)}</span>
      ${proposal ? html`<a href=${href("proposals", proposal)}>proposal ${proposal} waits</a>` : nothing}</div>
    <div class="sides">${side(first, conflict)} ${side(second, conflict)}</div>
    ${first.statement && second.statement ? html`<details><summary>The difference</summary>${difference(first.statement, second.statement)}</details>` : nothing}
    ${conflict.context ? html`<p>In context: <q>${conflict.context}</q>${conflict.reviewedBy ? html`, by <bdi>${conflict.reviewedBy}</bdi>` : nothing}</p>` : nothing}
    ${conflict.resolution ? html`<p>Resolved by <bdi>${conflict.resolution.resolvedBy}</bdi>, ${time(conflict.resolution.resolveTime)}: ${item(conflict.resolution.supersedingId)} stays. ${conflict.resolution.context}</p>` : nothing}
    <div class="row">${buttons(conflict, actions, settled)} ${copies(`concord conflict show ${quoted(conflict.id)}`, conflict)}</div>
  </article>`;
}

/** @param {any} said @param {any} conflict */
function side(said, conflict) {
  const held = said.supersession ?? {};
  return html`<section class="side" aria-label=${said.id === conflict.olderId ? "The older side" : "A side"}>
    <div class="meta">${item(said.id, said.kind)} ${said.id === conflict.olderId ? badge("older") : nothing} ${badge(said.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "constitutive" : "", "warn")}
      ${held.isSuperseded ? badge("replaced", "bad") : nothing} ${said.isDeleted ? badge("deleted", "bad") : nothing}</div>
    ${words(said.statement)}
    <div class="meta"><span>${held.effectiveValidFrom ? html`held from ${day(held.effectiveValidFrom)}` : "held since ever"}${held.effectiveValidUntil ? html` until ${day(held.effectiveValidUntil)}` : nothing}</span>
      ${(said.sources ?? []).map((/** @type {any} */ each) => html`<span>said by <bdi>“${each.speaker || each.file || "unnamed"}”</bdi>, ${word(each.trust, "TRUST_LEVEL")}</span>`)}</div></section>`;
}

/** @param {any} conflict @param {ReturnType<typeof actionsOf>} actions @param {boolean} settled */
function buttons(conflict, actions, settled) {
  if (!mayChange(REVIEW)) return nothing;
  if (settled) return html`<button @click=${() => actions.reopen(conflict)}>Reopen</button>`;
  const { first, second } = conflict;
  return html`${conflict.state === "CONFLICT_STATE_POTENTIAL" ? html`<button data-key="confirm" @click=${() => actions.confirm(conflict)}>Confirm</button>` : nothing}
    <button data-key="dismiss" @click=${() => actions.dismiss(conflict)}>Dismiss</button>
    <button data-key="except" @click=${() => actions.except(conflict)}>Exception…</button>
    <label>Class <select @change=${(/** @type {Event} */ event) => actions.reclassify(conflict, /** @type {HTMLSelectElement} */ (event.target).value)}>
      ${CLASSES.map((each) => html`<option value=${each} ?selected=${conflict.conflictClass === `CONFLICT_CLASS_${each}`}>${each.toLowerCase()}</option>`)}</select></label>
    <button @click=${() => actions.resolve(conflict, first, second)}>First gives way…</button>
    <button @click=${() => actions.resolve(conflict, second, first)}>Second gives way…</button>`;
}
