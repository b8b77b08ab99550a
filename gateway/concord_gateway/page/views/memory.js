/** One memory: its words, versions, lineage, facts, conflicts, and to whom it was returned. */

import { mayCall, mayChange } from "../access.js";
import { fieldText, spoken } from "../action.js";
import { all, call, change } from "../calls.js";
import { press, setKeys } from "../keys.js";
import { announce, ask, badge, copies, day, difference, empty, healthBadge, html, item, nothing, quoted, refusal, saveDot, time, word, words } from "../parts.js";
import { render } from "../vendor/lit-html/lit-html.js";
import { asOf, href, outside } from "../state.js";
import { claimBadges } from "./claims.js";

/** @param {import("./view.js").Opened} opened */
export function open({ id, signal, update }) {
  /** @type {any} */
  let memory = null;
  /** @type {any} */
  let status = null;
  /** @type {unknown} */
  let failed = null;
  /** What was refused last: it stays until something is done again. @type {unknown} */
  let refused = null;
  /** @type {Record<string, any>} */
  const beside = {};

  const get = async (/** @type {string} */ name, /** @type {() => Promise<any>} */ ask_) => {
    try {
      beside[name] = await ask_();
    } catch (error) {
      beside[name] = { failed: error };
    }
    update();
  };

  async function load() {
    try {
      ({ memory = null, status } = await call("graph.MemoryService/GetMemory", { id, peek: true, ...asOf() }, signal));
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
    if (!memory) return;
    await Promise.all([
      get("versions", () => all("graph.MemoryService/GetMemoryHistory", { id, ...asOf() }, "versions", 200)),
      get("lineage", () => call("graph.LineageService/GetLineage", { id, ...asOf() }, signal)),
      get("conflicts", () => call("graph.ConflictService/ListConflicts", { itemIds: [id], pageSize: 50, ...asOf() }, signal)),
      mayCall("graph.RecallService/ListRecalls")
        ? get("recalls", () => call("graph.RecallService/ListRecalls", { memoryId: id, pageSize: 20 }, signal)) : null,
    ]);
  }

  /** Runs a change and shows what it did. @param {() => Promise<any>} act @param {string} did */
  const doing = async (act, did) => {
    try {
      refused = null;
      const reply = await act();
      announce(reply?.outcome === "WRITE_OUTCOME_CLAIMED" ? "Recorded as a claim: its owner settles it." : did);
      await load();
    } catch (error) {
      refused = error;
      update();
    }
  };

  const actions = {
    correct: async () => {
      const said = await ask({
        title: "Correct this memory",
        text: html`<p>A new memory takes its place from now on; the old words stay in its history.</p>`,
        fields: [{ name: "content", label: "What holds now", type: "textarea", value: memory.content, required: true }],
        yes: "Correct",
      }, render);
      if (!said) return;
      await doing(async () => {
        const { memory: added } = await change("graph.MemoryService/AddMemory", {
          memory: { content: `${said.content}\n\nSupersedes: [[memory:${id}]]`, kind: memory.kind },
        });
        location.hash = href("memory", added.id);
      }, "Corrected.");
    },
    forget: () => doing(() => change("graph.MemoryService/ForgetMemory", { id, etag: memory.etag }), "Forgotten; it can be restored."),
    restore: () => doing(() => change("graph.MemoryService/RestoreMemory", { id, etag: memory.etag }), "Restored."),
    erase: async () => {
      const effect = await call("graph.GovernedChangeService/PreviewChange", { action: { eraseMemory: { requestId: crypto.randomUUID(), id, etag: memory.etag } } }).catch((error) => ({ failed: error }));
      const said = await ask({
        title: "Erase this memory for ever",
        text: html`${refusal(effect.failed)}<p>Its words leave every store, index, version and log. This cannot be undone. It touches:</p>
          <ul>${(effect.items ?? []).map((/** @type {any} */ each) => html`<li><bdi>${each.id}</bdi> ${each.statement ?? ""}</li>`)}</ul>`,
        fields: [{ name: "typed", label: `Type ${id} to erase it`, required: true }, { name: "reason", label: "Reason, for the log" }],
        yes: "Erase",
      }, render);
      if (!said) return;
      if (said.typed !== id) return announce("Not erased: the id was typed differently.");
      await doing(() => change("graph.MemoryService/EraseMemory", { id, etag: memory.etag, reason: said.reason }), "Erased.");
    },
  };

  setKeys([
    { key: "e", does: "correct it", act: press("correct") },
    { key: "c", does: "copy the CLI command", act: press("copy") },
  ]);
  return {
    load,
    draw: () => html`<p><a href=${href("memories")}>Memories</a></p><h1><bdi>${id}</bdi></h1>
      ${refusal(failed)} ${refusal(refused)}
      ${memory ? whole(memory, beside, actions) : status === null ? html`<p class="quiet">Loading…</p>`
        : empty(status === "LOOKUP_STATUS_ERASED" ? "This memory was erased." : "There is no such memory in this space, or not at this time.")}`,
  };
}

/** @param {any} memory @param {Record<string, any>} beside @param {Record<string, () => void>} actions */
function whole(memory, beside, actions) {
  const stands = memory.supersession ?? {};
  return html`<article class="card">
      <div class="meta">${word(memory.kind, "MEMORY_KIND")} ${healthBadge(memory.health)}
        ${badge(memory.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "constitutive: takes both to change" : "", "warn")}
        ${stands.isSuperseded ? badge("replaced", "bad") : badge(outside(stands), "warn")} ${memory.forgetTime ? badge("forgotten", "bad") : nothing} ${claimBadges(memory)}</div>
      ${words(memory.content)}
      <div class="row">${buttons(memory, actions)} <a class="button" href=${href("graph", `memory:${memory.id}`)}>Graph</a> ${copies(`concord get ${quoted(memory.id)}`, memory)}</div>
    </article>
    ${(memory.health?.reasons ?? []).length ? html`<p>${healthBadge(memory.health)} ${memory.health.reasons.join("; ")}</p>` : nothing}
    <dl class="fields">
      <dt>Holds</dt><dd>${stands.effectiveValidFrom ? html`from ${day(stands.effectiveValidFrom)}` : "since ever"} ${stands.effectiveValidUntil ? html`until ${day(stands.effectiveValidUntil)}` : ""}</dd>
      <dt>Learnt</dt><dd>${time(memory.createTime)}${memory.modifyTime && memory.modifyTime !== memory.createTime ? html`, changed ${time(memory.modifyTime)}` : nothing}</dd>
      <dt>Written by</dt><dd>${word(memory.origin, "ORIGIN")}${memory.wordsOrigin && memory.wordsOrigin !== memory.origin ? html`, reworded by ${word(memory.wordsOrigin, "ORIGIN")}` : nothing}; trust: ${word(memory.trust, "TRUST_LEVEL")}</dd>
      ${(memory.sources ?? []).map((/** @type {any} */ each) => html`<dt>Source, as claimed</dt><dd>${source(each)}</dd>`)}
      <dt>Importance</dt><dd>${word(memory.importance, "IMPORTANCE")}</dd>
      ${memory.sessionId ? html`<dt>Session</dt><dd><a href=${href("memories", "", { session: memory.sessionId })}><bdi>${memory.sessionId}</bdi></a></dd>` : nothing}
      ${memory.domain ? html`<dt>Domain</dt><dd><a href=${href("memories", "", { domain: memory.domain })}><bdi>${memory.domain}</bdi></a></dd>` : nothing}
      ${(memory.tags ?? []).length ? html`<dt>Tags</dt><dd>${memory.tags.map((/** @type {string} */ each) => html`<a class="badge" href=${href("memories", "", { tag: each })}><bdi>${each}</bdi></a> `)}</dd>` : nothing}
      ${(memory.facts ?? []).length ? html`<dt>Facts</dt><dd>${memory.facts.map((/** @type {any} */ each) => html`<div><a href=${href("graph", each.subject)}><bdi>${each.subject}</bdi></a> <code>${each.relation}</code>
        <a href=${href("graph", each.object)}><bdi>${each.object}</bdi></a>${each.extracted ? " (read from the words)" : ""}</div>`)}</dd>` : nothing}
      ${memory.access?.accessCount ? html`<dt>Read</dt><dd>${Number(memory.access.accessCount) === 1 ? "once" : `${memory.access.accessCount} times`}, last ${time(memory.access.lastAccessTime)}</dd>` : nothing}
    </dl>
    ${conflicts(beside.conflicts)} ${lineage(memory.id, beside.lineage)} ${versions(beside.versions)} ${recalls(beside.recalls)}`;
}

/** @param {any} said */
const source = (said) => html`${said.speaker ? html`<bdi>“${said.speaker}”</bdi> ` : nothing}${said.file ? html`<bdi>“${said.file}”</bdi> ` : nothing}
  ${(said.memoryIds ?? []).map((/** @type {string} */ id) => html`${item(id)} `)} ${word(said.trust, "TRUST_LEVEL")}`;

/** @param {any} memory @param {Record<string, () => void>} actions */
function buttons(memory, actions) {
  const offered = /** @type {const} */ ([
    ["correct", "Correct", "graph.MemoryService/AddMemory", !memory.forgetTime],
    ["forget", "Forget", "graph.MemoryService/ForgetMemory", !memory.forgetTime],
    ["restore", "Restore", "graph.MemoryService/RestoreMemory", Boolean(memory.forgetTime)],
    ["erase", "Erase…", "graph.MemoryService/EraseMemory", true],
  ]);
  return offered.filter(([, , method, fits]) => fits && mayChange(method))
    .map(([name, label]) => html`<button data-key=${name} @click=${actions[name]}>${label}</button>`);
}

/** @param {any} said */
function conflicts(said) {
  if (said?.failed) return refusal(said.failed);
  if (!said?.conflicts?.length) return nothing;
  return html`<h2>Conflicts</h2>${said.conflicts.map((/** @type {any} */ each) => html`<p data-row><a href=${href("conflicts", each.id)}>
    ${badge(each.state === "CONFLICT_STATE_POTENTIAL" ? "Review conflict?" : word(each.state, "CONFLICT_STATE"), each.state === "CONFLICT_STATE_POTENTIAL" ? "dashed" : "warn")}
    ${word(each.conflictClass, "CONFLICT_CLASS")}</a></p>`)}`;
}

/** @param {string} id @param {any} said */
function lineage(id, said) {
  if (said?.failed) return refusal(said.failed);
  const items = said?.items ?? [];
  if (items.length < 2) return nothing;
  const from = (/** @type {any} */ each) => each.supersession?.effectiveValidFrom;
  return html`<h2>Lineage</h2><ol class="timeline">${items.map((/** @type {any} */ each) => html`<li class=${each.isHead ? "head" : ""} data-row>
    <div class="meta"><span>${from(each) ? day(from(each)) : "since ever"}${each.supersession?.effectiveValidUntil ? html` to ${day(each.supersession.effectiveValidUntil)}` : nothing}</span>
      ${each.isHead ? (outside(each.supersession) ? badge(outside(each.supersession), "warn") : badge("holds", "good")) : nothing} ${each.isUndeclared ? badge("named, but not stored", "warn") : nothing} ${each.isDeleted ? badge("forgotten", "bad") : nothing} ${each.isErased ? badge("erased", "bad") : nothing}
      ${each.id === id ? html`<strong><bdi>${each.id}</bdi></strong>` : item(each.id, each.kind)} ${deeds(each, said)}
      ${(each.derivedFrom ?? []).length ? html`<span>drawn from ${each.derivedFrom.map((/** @type {any} */ one) => html`${item(one.id)} `)}</span>` : nothing}</div>
    ${words(each.statement)}</li>`)}</ol>
    <button class="small" @click=${() => saveDot(`lineage-${id}`, items.map(labelled), (said.edges ?? []).map(drawn))}>Save as DOT</button>`;
}

/** @param {any} each @returns {[string, string]} */
const labelled = (each) => [each.id, each.statement || each.id];
/** @param {any} each @returns {[string, string, string]} */
const drawn = ({ source, target, relation, claimed }) => [source.id, target.id, claimed ? `${relation} (claimed)` : relation];

/** What an item of a chain does to older ones; where it is claimed alone, it does nothing yet.
 * @param {any} each @param {any} said */
const deeds = (each, said) => (said.edges ?? []).filter((/** @type {any} */ { source }) => source.id === each.id).map((/** @type {any} */ edge) => html`<span>${word(edge.relation)} ${item(edge.target.id)} ${edge.claimed ? badge("claimed, not settled", "dashed") : nothing}</span>`);

/** Fields that differ between versions without anybody's doing. */
const DERIVED = new Set(["content", "etag", "modifyTime", "supersession", "health", "access", "claims", "lineage"]);

/** What one version changed of the one before. @param {any} before @param {any} after */
function changes(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !DERIVED.has(name) && fieldText(name, before[name]) !== fieldText(name, after[name]));
  return html`${before.content === after.content ? html`<p class="quiet">The words did not change.</p>` : difference(before.content ?? "", after.content ?? "")}
    ${names.length ? html`<dl class="fields">${names.map((name) => html`<dt>${spoken(name)}</dt><dd>${difference(fieldText(name, before[name]) || "none", fieldText(name, after[name]) || "none")}</dd>`)}</dl>` : nothing}`;
}

/** @param {any} said */
function versions(said) {
  if (said?.failed) return refusal(said.failed);
  if (!Array.isArray(said) || said.length < 2) return nothing;
  const oldest = said.toSorted((a, b) => Number(a.revision) - Number(b.revision));
  return html`<h2>Versions</h2>${oldest.map((each, at) => html`<article class="card" data-row>
    <div class="meta"><strong>Revision ${each.revision}</strong> <span>${time(each.recordFrom)}</span> <span>by <bdi>${each.principal}</bdi></span></div>
    ${at === 0 ? words(each.memory?.content) : changes(oldest[at - 1].memory ?? {}, each.memory ?? {})}</article>`)}`;
}

/** @param {any} said */
function recalls(said) {
  if (said?.failed) return refusal(said.failed);
  if (!said) return nothing;
  if (!said.recalls?.length) return html`<h2>Returned to</h2><p class="quiet">${said.enabled ? "No search has returned it since the log is on." : html`The recall log of this space is off: nobody knows to whom it was returned. <code>concord recall on</code>`}</p>`;
  return html`<h2>Returned to</h2><table class="folds"><thead><tr><th>When</th><th>Who</th><th>Session</th></tr></thead><tbody>
    ${said.recalls.map((/** @type {any} */ each) => html`<tr data-row><td>${time(each.recallTime)}</td><td data-name="Who"><bdi>${each.principal}</bdi></td><td data-name="Session"><bdi>${each.sessionId ?? ""}</bdi></td></tr>`)}</tbody></table>`;
}
