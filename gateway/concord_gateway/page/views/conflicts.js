/** Conflicts: two sides beside one another, and three ways to settle them. */

import { mayChange } from "../access.js";
import { again, call, change, joined } from "../calls.js";
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

const MOST_READ = 20;
/** When memories at sides were learnt, by id. @type {Map<string, string>} */
const learnt = new Map();

/** @param {import("./view.js").Opened} opened */
export function open({ id, params, signal, update }) {
  learnt.clear();
  const states = params.get("state") ? [params.get("state")] : id ? [] : ["POTENTIAL", "CONFIRMED"];
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** What was refused last: it stays until something is done again. @type {unknown} */
  let refused = null;

  async function load(pageToken = "") {
    try {
      if (id) {
        const { conflict } = await call("graph.ConflictService/GetConflict", { id, ...asOf() }, signal);
        got = { conflicts: conflict ? [conflict] : [] };
      } else {
        const read = (/** @type {string} */ token) => call(inThePast() ? "graph.ConflictService/ListConflicts" : LIST, { ...asOf(),
          states: states.map((each) => `CONFLICT_STATE_${each}`), pageSize: 50, pageToken: token,
          ...(params.get("class") && { classes: [`CONFLICT_CLASS_${params.get("class")}`] }),
        }, signal);
        got = pageToken ? joined(got, await read(pageToken), "conflicts") : await again(read, "conflicts", got?.conflicts?.length ?? 0);
      }
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
    await learn();
  }

  /** Reads when the items of both sides were learnt: a conflict does not say it. */
  async function learn() {
    const sides = (got?.conflicts ?? []).flatMap((/** @type {any} */ { first, second }) => [first, second]);
    const unknown = sides.filter((/** @type {any} */ { id, kind }) => kind === "ITEM_KIND_MEMORY" && !learnt.has(id)).slice(0, MOST_READ);
    await Promise.all(unknown.map(async (/** @type {any} */ { id }) => {
      const { memory } = await call("graph.MemoryService/GetMemory", { id, peek: true, ...asOf() }, signal).catch(() => ({ memory: null }));
      learnt.set(id, memory?.createTime ?? "");
    }));
    if (unknown.length) update();
  }

  /** What depends on the side that gave way last: to be looked at, and never changed by itself. @type {string[]} */
  let depends = [];
  /** The one that was settled last. @type {any} */
  let last = null;

  /** @param {any} conflict @param {string} method @param {any} request @param {string} did */
  async function settle(conflict, method, request, did) {
    try {
      refused = null;
      const reply = await change(method, { conflictId: conflict.id, ...request });
      last = request.action === "REVIEW_ACTION_REOPEN" ? null : conflict;
      depends = reply.dependentIds ?? [];
      announce(reply.proposalNumber && reply.proposalNumber !== "0" ? `It touches what is constitutive: proposal ${reply.proposalNumber} waits for both.`
        : reply.outcome === "WRITE_OUTCOME_CLAIMED" ? "Recorded as a claim: its owner settles it." : last ? `${did} Press u to undo it.` : did);
      await load();
    } catch (error) {
      refused = error;
      update();
    }
  }

  const actions = actionsOf(settle);
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
      ${refusal(failed)} ${refusal(refused)} ${dependents(depends)}
      ${!got ? html`<p class="quiet">Loading…</p>` : shown(got.conflicts ?? [], got.proposals ?? {}, actions, params.get("by") ?? "RULE")}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More</button>` : nothing}`,
  };
}

/** @param {string[]} ids */
const dependents = (ids) => ids.length === 0 ? nothing : html`<section class="card" aria-label="What depends on it">
  <p>What gave way is what these depend on. Nothing of them changed; look whether they still hold:</p><ul>${ids.map((id) => html`<li>${item(id)}</li>`)}</ul></section>`;

/** @param {(conflict: any, method: string, request: object, did: string) => Promise<void>} settle */
function actionsOf(settle) {
  /** @param {any} conflict @param {string} action @param {object} more @param {string} did */
  const review = (conflict, action, more, did) => settle(conflict, REVIEW, { action: `REVIEW_ACTION_${action}`, ...more }, did);
  const context = (/** @type {string} */ title, /** @type {string} */ yes) =>
    ask({ title, fields: [{ name: "context", label: "Why, or in which context both hold", type: "textarea", required: true }], yes }, render);
  return {
    confirm: (/** @type {any} */ each) => review(each, "CONFIRM", { etag: each.etag }, "Confirmed."),
    dismiss: (/** @type {any} */ each) => review(each, "DISMISS", { etag: each.etag }, "Dismissed."),
    except: async (/** @type {any} */ each) => {
      const said = await context("Keep both, as an exception", "Keep both");
      if (said) await review(each, "EXCEPT", { etag: each.etag, context: said.context }, "Kept as an exception.");
    },
    reclassify: (/** @type {any} */ each, /** @type {string} */ to, /** @type {string} */ olderId) =>
      review(each, "RECLASSIFY", { etag: each.etag, conflictClass: `CONFLICT_CLASS_${to}`, olderId }, `Now ${to.toLowerCase()}.`),
    reopen: (/** @type {any} */ each) => review(each, "REOPEN", {}, "Reopened."),
    resolve: async (/** @type {any} */ each, /** @type {any} */ gives, /** @type {any} */ stays) => {
      const said = await ask({
        title: "Resolve: which side gives way",
        text: html`<p>Gives way:</p>${words(gives.statement)}<p>Stays:</p>${words(stays.statement)}`,
        fields: [{ name: "context", label: "Why, or in which context", type: "textarea" }],
        yes: "Resolve",
      }, render);
      if (said) await settle(each, RESOLVE, { resolutionType: each.conflictClass, supersededId: gives.id, context: said.context }, "Resolved.");
    },
  };
}

/** @param {URLSearchParams} params */
function filters(params) {
  return html`<div class="row">${choice(params, "state", "State", STATES, "open")} ${choice(params, "class", "Class", CLASSES, "any")}
    ${choice(params, "by", "Together by", ["FRAME", "RUN"], "rule")}</div>`;
}

/** What conflicts are shown and dismissed together by: the rule that found them, the frame of statements that
 * they share, or the run of a check. @type {Record<string, (conflict: any) => Record<string, string>>} */
const GROUPS = {
  RULE: ({ rule }) => ({ rule }),
  FRAME: ({ groupId }) => ({ groupId }),
  RUN: ({ runId }) => ({ runId }),
};

/** @param {any[]} conflicts @param {Record<string, string>} proposals @param {ReturnType<typeof actionsOf>} actions @param {string} by */
function shown(conflicts, proposals, actions, by) {
  if (conflicts.length === 0) return empty(html`Nothing disagrees here. <code>concord check</code> looks at the whole space.`);
  const keyOf = GROUPS[by] ?? GROUPS.RULE;
  const nameOf = (/** @type {any} */ each) => Object.values(keyOf(each))[0] ?? "";
  return [...Map.groupBy(conflicts, nameOf)].map(([name, group]) => html`${group.length > 1 ? html`<h2>${group.length} of ${name ? "the" : "no"} ${by.toLowerCase()} <bdi>${name}</bdi> ${together(group, keyOf(group[0]))}</h2>` : nothing}
    ${group.map((each) => card(each, proposals[each.id], actions))}`);
}

/** @param {any[]} group @param {Record<string, string>} named what names all of it in a request */
function together(group, named) {
  const waits = group.filter((each) => each.state === "CONFLICT_STATE_POTENTIAL" && (each.isTextFinding || named.runId));
  if (!Object.values(named)[0] || waits.length === 0 || !mayChange("dissonance.DissonanceService/DismissConflicts")) return nothing;
  const dismiss = async () => {
    const said = await ask({ title: "Dismiss all of this group that wait", text: html`<p>${waits.length} of them are shown here. Those that this page does not show are dismissed, too; what touches something constitutive is left.</p>`,
      fields: [{ name: "context", label: "Why", type: "textarea", required: true }], yes: "Dismiss all" }, render);
    if (!said) return;
    await change("dissonance.DissonanceService/DismissConflicts", { ...named, context: said.context })
      .then((reply) => announce(`${reply.dismissedCount ?? 0} dismissed, ${reply.leftCount ?? 0} left.`), (error) => announce(error.message));
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
      <strong>${word(conflict.conflictClass, "CONFLICT_CLASS")}</strong> <span>${word(conflict.severity, "CONFLICT_SEVERITY")} ${word(conflict.type, "CONFLICT_TYPE")}</span>
      <span>by ${word(conflict.judge, "JUDGE")} <bdi>${conflict.rule || conflict.author}</bdi>${conflict.confidence ? `, ${Number(conflict.confidence).toFixed(2)}` : ""}</span> <span>${time(conflict.createTime)}</span>
      ${proposal ? html`<a href=${href("proposals", proposal)}>proposal ${proposal} waits</a>` : nothing}</div>
    <div class="sides">${side(first, conflict)} ${side(second, conflict)}</div>
    ${first.statement && second.statement ? html`<details><summary>The difference</summary>${difference(first.statement, second.statement)}</details>` : nothing}
    ${conflict.context ? html`<p>In context: <q>${conflict.context}</q>${conflict.reviewedBy ? html`, by <bdi>${conflict.reviewedBy}</bdi>` : nothing}</p>` : nothing}
    ${conflict.resolution ? html`<p>Resolved by <bdi>${conflict.resolution.resolvedBy}</bdi>, ${time(conflict.resolution.resolveTime)}: ${item(conflict.resolution.supersedingId)} stays. ${conflict.resolution.context}</p>` : nothing}
    <div class="row">${buttons(conflict, actions, settled)} ${copies(`concord conflict show ${quoted(conflict.id)}`, conflict)}</div>
  </article>`;
}

/** A side's words, with those marked in which its judge saw the disagreement. @param {any} said */
function marked({ statement, spans }) {
  const letters = [...statement], parts = [];
  let at = 0;
  for (const { start = 0, end = 0 } of spans.toSorted((/** @type {any} */ a, /** @type {any} */ b) => (a.start ?? 0) - (b.start ?? 0))) {
    if (start < at) continue;
    parts.push(letters.slice(at, start).join(""), html`<mark>${letters.slice(start, end).join("")}</mark>`);
    at = end;
  }
  return html`<p class="words" dir="auto">${parts}${letters.slice(at).join("")}</p>`;
}

/** @param {any} said @param {any} conflict */
function side(said, conflict) {
  const held = said.supersession ?? {};
  return html`<section class="side" aria-label=${said.id === conflict.olderId ? "The older side" : "A side"}>
    <div class="meta">${item(said.id, said.kind)} ${said.id === conflict.olderId ? badge("older") : nothing} ${badge(said.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "constitutive" : "", "warn")}
      ${held.isSuperseded ? badge("replaced", "bad") : nothing} ${said.isDeleted ? badge("deleted", "bad") : nothing}</div>
    ${said.spans?.length ? marked(said) : words(said.statement)}
    <div class="meta">${learnt.get(said.id) ? html`<span>learnt ${time(learnt.get(said.id))}</span>` : nothing} <span>${held.effectiveValidFrom ? html`held from ${day(held.effectiveValidFrom)}` : "held since ever"}${held.effectiveValidUntil ? html` until ${day(held.effectiveValidUntil)}` : nothing}</span>
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
    <label>Class ${classes(conflict, actions)}</label>
    <button @click=${() => actions.resolve(conflict, first, second)}>First gives way…</button>
    <button @click=${() => actions.resolve(conflict, second, first)}>Second gives way…</button>`;
}

/** The classes of a conflict; of an evolution somebody has to say which side is the older one.
 * @param {any} conflict @param {ReturnType<typeof actionsOf>} actions */
function classes(conflict, actions) {
  const choices = [["CONTRADICTION", "", "contradiction"], ["NUANCE", "", "nuance"], ["EVOLUTION", conflict.first.id, "evolution: the first is older"], ["EVOLUTION", conflict.second.id, "evolution: the second is older"]];
  const at = choices.findIndex(([name, olderId]) => conflict.conflictClass === `CONFLICT_CLASS_${name}` && (conflict.olderId ?? "") === olderId);
  const chosen = (/** @type {Event} */ event) => {
    const select = /** @type {HTMLSelectElement} */ (event.target);
    const [to, olderId] = choices[select.selectedIndex];
    select.selectedIndex = at; // until it is so
    return actions.reclassify(conflict, to, olderId);
  };
  return html`<select @change=${chosen}>${choices.map(([, , said], index) => html`<option .selected=${index === at}>${said}</option>`)}</select>`;
}
