/** Graph: what is around a node, or a whole space. The drawing and its table show the same edges. */

import { all, call } from "../calls.js";
import { badge, day, empty, healthBadge, html, item, nothing, refusal, saveDot, word } from "../parts.js";
import { asOf, go, href } from "../state.js";
import { draw as drawn, nameOf, release } from "../drawing.js";

const MOST = 20_000;
const MOST_CONFLICTS = 1000;
const MEMORY = "memory:";

/** @param {import("./view.js").Opened} opened */
export function open({ id, params, signal, update }) {
  const whole = !id && params.get("whole") === "1";
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** @type {string | null} */
  let undrawable = null;
  let shown = 100, read = 0, changed = false;
  signal.addEventListener("abort", release);
  const progress = (/** @type {number} */ now) => {
    read = now;
    update();
  };

  async function load() {
    try {
      got = id || whole ? await edges(id, params, signal, progress) : { nodes: await all("graph.GraphService/ListNodes", asOf(), "nodes", 500) };
      failed = null;
      changed = false;
    } catch (error) {
      failed = error;
    }
    update();
    const canvas = /** @type {HTMLElement | null} */ (document.querySelector(".canvas"));
    if (canvas && isSomething(got)) {
      undrawable = await drawn(canvas, id, got, (name) => (location.hash = href("graph", name)));
      update();
    }
  }
  /** A whole space is thousands of edges: they are read again when somebody asks. */
  const reload = async () => {
    if (!whole) return load();
    changed = true;
    update();
  };

  return {
    load: () => (got ? reload() : load()),
    draw: () => html`<h1>Graph ${id ? html`around <bdi>${id}</bdi>` : whole ? "of the whole space" : ""}</h1>
      ${filters(id, whole, params)}
      ${refusal(failed)}
      ${changed ? html`<p role="status">Something changed since. <button class="small" @click=${load}>Read it again</button></p>` : nothing}
      ${!got && !failed ? html`<p class="quiet" role="status">Loading… ${read ? `${read.toLocaleString()} edges` : nothing}</p>` : nothing}
      ${got?.nodes ? nodes(got.nodes) : nothing}
      ${isSomething(got) ? html`<div class="canvas" role="img" aria-label=${`${got.edges.length} edges${id ? ` around ${id}` : ""}; the table below has the same`} ?hidden=${undrawable !== null}></div>
        ${undrawable ? html`<p>${badge("not drawn", "warn")} ${undrawable} The table has the same edges.</p>` : legend()}` : nothing}
      ${got?.edges ? table(id, got, shown, () => { shown += 500; update(); }) : nothing}`,
  };
}

/** @param {any} got */
const isSomething = (got) => Boolean(got?.edges?.length || got?.conflicts?.length);

const legend = () => html`<ul class="legend" aria-label="What the lines mean"><li class="plain">holds</li><li class="constitutive">constitutive</li>
  <li class="confirmed">a confirmed conflict</li><li class="potential">waits: a conflict for its review, a claim for its owner</li></ul><p class="quiet">Click a node to go there.</p>`;

/** @param {string} id @param {any} got */
const save = (id, got) => saveDot(`graph-${id || "space"}`, [], got.edges.map((/** @type {any} */ each) => [nameOf(each.source), nameOf(each.target), each.relation]));

/** All edges around a node, or of the space, and the open conflicts of what they connect.
 * @param {string} id @param {URLSearchParams} params @param {AbortSignal} signal @param {(count: number) => void} progress */
async function edges(id, params, signal, progress) {
  const relation = params.get("relation") ?? "", replaced = params.get("all") === "1";
  const filter = { ...(relation && { relations: [relation] }) };
  const start = id.startsWith(MEMORY) ? { id: id.slice(MEMORY.length) } : { name: id };
  const now = { asOf: { validTime: new Date().toISOString(), ...asOf().asOf } }; // without a valid time, replaced ones are listed
  const [method, request] = id
    ? ["QueryNeighbors", { start, depth: Number(params.get("depth") ?? 1), peek: true, includeSuperseded: replaced, filter, ...asOf() }]
    : ["ListEdges", { filter, ...(replaced ? asOf() : now) }];
  const found = [];
  let pageToken = "", reply;
  do {
    reply = await call(`graph.GraphService/${method}`, { ...request, pageSize: 200, pageToken }, signal);
    found.push(...(reply.edges ?? (reply.neighbors ?? []).map((/** @type {any} */ each) => each.edge)));
    pageToken = reply.nextPageToken ?? "";
    if (pageToken) progress(found.length);
  } while (pageToken && found.length < MOST);
  return { edges: found, conflicts: await conflictsOf(id, found, signal), truncated: Boolean(pageToken) || reply.truncated };
}

/** The open conflicts of edges and of memories at their ends. @param {string} id @param {any[]} found @param {AbortSignal} signal */
async function conflictsOf(id, found, signal) {
  const memories = found.flatMap(({ source, target }) => [source, target]).filter((each) => each.kind === "ITEM_KIND_MEMORY").map((each) => each.id);
  const ids = new Set([...memories, ...found.filter((each) => each.conflictIds?.length).map((each) => each.id), ...(id.startsWith(MEMORY) ? [id.slice(MEMORY.length)] : [])]);
  if (ids.size === 0) return [];
  const request = { states: ["CONFLICT_STATE_POTENTIAL", "CONFLICT_STATE_CONFIRMED"], ...(ids.size <= 500 && { itemIds: [...ids] }), ...asOf() };
  const open = await all("graph.ConflictService/ListConflicts", request, "conflicts", MOST_CONFLICTS, signal);
  return open.filter(({ first, second }) => (id ? ids.has(first.id) || ids.has(second.id) : ids.has(first.id) && ids.has(second.id)));
}

/** @param {string} id @param {boolean} whole @param {URLSearchParams} params */
function filters(id, whole, params) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("name")).trim();
    location.hash = href("graph", name, { ...Object.fromEntries(params), whole: "" });
  };
  const depth = Number(params.get("depth") ?? 1);
  return html`<form class="row" @submit=${submit}><input class="grow" type="search" name="name" aria-label="Node" placeholder="The name of a node, or memory:ID" .value=${id}><button class="main">Show</button>
      ${whole ? html`<a class="button" href=${href("graph")}>List of nodes</a>` : html`<a class="button" href=${href("graph", "", { whole: "1" })}>Draw the whole space</a>`}</form>
    ${id || whole ? html`<div class="row">
      ${id ? html`<label>Steps <select @change=${(/** @type {Event} */ event) => go({ depth: /** @type {HTMLSelectElement} */ (event.target).value })}>${[1, 2, 3, 4, 5].map((each) => html`<option .selected=${each === depth}>${each}</option>`)}</select></label>` : nothing}
      <label>Relation <input .value=${params.get("relation") ?? ""} @change=${(/** @type {Event} */ event) => go({ relation: /** @type {HTMLInputElement} */ (event.target).value.trim() })}></label>
      <label><input type="checkbox" .checked=${params.get("all") === "1"} @change=${() => go({ all: params.get("all") ? "" : "1" })}> with what was replaced</label></div>` : nothing}`;
}

/** @param {any[]} found */
function nodes(found) {
  if (found.length === 0) return empty(html`There is no node yet. Nodes come with edges and facts: <code>concord link Ada LIVES_IN Bremen</code>.`);
  return html`<h2>Nodes</h2><table class="folds"><thead><tr><th>Name</th><th>Label</th><th>Since</th></tr></thead><tbody>
    ${found.map((each) => html`<tr data-row><td><a href=${href("graph", each.name)}><bdi>${each.name}</bdi></a></td><td data-name="Label"><bdi>${each.label}</bdi></td><td data-name="Since">${day(each.createTime)}</td></tr>`)}</tbody></table>`;
}

/** @param {string} id @param {any} got @param {number} shown @param {() => void} more */
function table(id, got, shown, more) {
  if (!isSomething(got)) return empty(id ? "No edge is there. Look one step further, or at what was replaced, too." : "No edge is there. Edges come with links and facts.");
  const end = (/** @type {any} */ each) => (each.kind === "ITEM_KIND_MEMORY" ? item(each.id) : html`<a href=${href("graph", nameOf(each))}><bdi>${nameOf(each)}</bdi></a>`);
  const confirmed = new Set(got.conflicts.filter(isConfirmed).map((/** @type {any} */ each) => each.id));
  return html`<h2>${got.edges.length.toLocaleString()} ${got.edges.length === 1 ? "edge" : "edges"}${got.truncated ? ", cut at this number" : ""} <button class="small" @click=${() => save(id, got)}>Save as DOT</button></h2>
    <table class="folds"><thead><tr><th>From</th><th>Relation</th><th>To</th><th>Held</th><th>Kind</th><th>State</th></tr></thead><tbody>
    ${got.conflicts.filter((/** @type {any} */ each) => each.first.kind === "ITEM_KIND_MEMORY" && !isConfirmed(each)).map((/** @type {any} */ each) => html`<tr data-row><td data-name="From">${item(each.first.id)}</td><td class="quiet" data-name="Relation">may contradict</td>
      <td data-name="To">${item(each.second.id)}</td><td></td><td></td><td data-name="State">${conflictBadge(each.id, false)}</td></tr>`)}
    ${got.edges.slice(0, shown).map((/** @type {any} */ each) => html`<tr data-row><td data-name="From">${end(each.source)}</td><td class="mono" data-name="Relation"><bdi>${each.relation}</bdi></td><td data-name="To">${end(each.target)}</td>
      <td data-name="Held">${day(each.supersession?.effectiveValidFrom ?? each.validFrom)}${each.supersession?.effectiveValidUntil ? html` to ${day(each.supersession.effectiveValidUntil)}` : nothing}</td>
      <td data-name="Kind">${badge(word(each.edgeType, "EDGE_TYPE"), each.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "warn" : "")}</td>
      <td data-name="State">${each.supersession?.isSuperseded ? badge("replaced", "bad") : nothing} ${each.claimed ? badge("claimed", "dashed") : nothing} ${healthBadge(each.health)}
        ${(each.conflictIds ?? []).map((/** @type {string} */ conflict) => conflictBadge(conflict, confirmed.has(conflict)))}</td></tr>`)}</tbody></table>
    ${got.edges.length > shown ? html`<button @click=${more}>More rows</button>` : nothing}`;
}

/** @param {any} conflict */
const isConfirmed = (conflict) => conflict.state === "CONFLICT_STATE_CONFIRMED";

/** @param {string} id @param {boolean} confirmed */
const conflictBadge = (id, confirmed) => html`<a class="badge ${confirmed ? "bad" : "dashed"}" href=${href("conflicts", id)}>${confirmed ? "conflict" : "Review conflict?"}</a>`;
