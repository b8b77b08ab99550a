/** Graph: what is around a node. The drawing and its table show the same edges. */

import { all, call } from "../calls.js";
import { badge, day, empty, healthBadge, html, item, nothing, refusal, word } from "../parts.js";
import { asOf, go, href } from "../state.js";
import { draw as drawn, release } from "../drawing.js";

const MOST = 20_000;

/** @param {import("./view.js").Opened} opened */
export function open({ id, params, signal, update }) {
  const depth = Number(params.get("depth") ?? 1);
  const relation = params.get("relation") ?? "";
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** @type {string | null} */
  let undrawable = null;
  let shown = 100;
  signal.addEventListener("abort", release);

  async function load() {
    try {
      got = id ? await around(id, depth, relation, params, signal) : { nodes: await all("graph.GraphService/ListNodes", asOf(), "nodes", 500) };
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
    const canvas = /** @type {HTMLElement | null} */ (document.querySelector(".canvas"));
    if (canvas && got?.edges?.length) {
      undrawable = await drawn(canvas, id, got.edges, (name) => (location.hash = href("graph", name)));
      update();
    }
  }

  return {
    load,
    draw: () => html`<h1>Graph ${id ? html`around <bdi>${id}</bdi>` : ""}</h1>
      ${filters(id, depth, relation, params)}
      ${refusal(failed)}
      ${!got && !failed ? html`<p class="quiet">Loading…</p>` : nothing}
      ${got?.nodes ? nodes(got.nodes) : nothing}
      ${got?.edges?.length ? html`<div class="canvas" role="img" aria-label=${`${got.edges.length} edges around ${id}; the table below has the same`} ?hidden=${undrawable !== null}></div>
        ${undrawable ? html`<p>${badge("not drawn", "warn")} ${undrawable} The table has the same edges.</p>` : html`<p class="quiet">Solid: holds. Red: constitutive, or a confirmed conflict. Grey: a conflict that waits for review. Click a node to go there.</p>`}` : nothing}
      ${got?.edges ? table(id, got, shown, () => { shown += 500; update(); }) : nothing}`,
  };
}

/** @param {string} id @param {number} depth @param {string} relation @param {URLSearchParams} params @param {AbortSignal} signal */
async function around(id, depth, relation, params, signal) {
  const request = {
    start: { name: id }, depth, peek: true, includeSuperseded: params.get("all") === "1", ...asOf(),
    filter: { ...(relation && { relations: [relation] }) },
  };
  const found = [];
  let pageToken = "", reply;
  do {
    reply = await call("graph.GraphService/QueryNeighbors", { ...request, pageSize: 200, pageToken }, signal);
    found.push(...(reply.neighbors ?? []));
    pageToken = reply.nextPageToken ?? "";
  } while (pageToken && found.length < MOST);
  const { node } = await call("graph.GraphService/GetNode", { name: id, ...asOf() }, signal);
  return { edges: found.map((each) => ({ ...each.edge, distance: each.distance })), truncated: Boolean(pageToken) || reply.truncated, nearNames: reply.nearNames, status: reply.status, node };
}

/** @param {string} id @param {number} depth @param {string} relation @param {URLSearchParams} params */
function filters(id, depth, relation, params) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("name")).trim();
    location.hash = href("graph", name, Object.fromEntries(params));
  };
  return html`<form class="row" @submit=${submit}><input class="grow" type="search" name="name" aria-label="Node" placeholder="The name of a node" .value=${id}><button class="main">Show</button></form>
    ${id ? html`<div class="row">
      <label>Steps <select @change=${(/** @type {Event} */ event) => go({ depth: /** @type {HTMLSelectElement} */ (event.target).value })}>${[1, 2, 3, 4, 5].map((each) => html`<option ?selected=${each === depth}>${each}</option>`)}</select></label>
      <label>Relation <input .value=${relation} @change=${(/** @type {Event} */ event) => go({ relation: /** @type {HTMLInputElement} */ (event.target).value })}></label>
      <label><input type="checkbox" .checked=${params.get("all") === "1"} @change=${() => go({ all: params.get("all") ? "" : "1" })}> with what was replaced</label></div>` : nothing}`;
}

/** @param {any[]} found */
function nodes(found) {
  if (found.length === 0) return empty(html`There is no node yet. Nodes come with edges and facts: <code>concord edge add Ada LIVES_IN Bremen</code>.`);
  return html`<h2>Nodes</h2><table class="folds"><thead><tr><th>Name</th><th>Label</th><th>Since</th></tr></thead><tbody>
    ${found.map((each) => html`<tr data-row><td><a href=${href("graph", each.name)}><bdi>${each.name}</bdi></a></td><td data-name="Label"><bdi>${each.label}</bdi></td><td data-name="Since">${day(each.createTime)}</td></tr>`)}</tbody></table>`;
}

/** @param {string} id @param {any} got @param {number} shown @param {() => void} more */
function table(id, got, shown, more) {
  if (got.edges.length === 0) return empty(html`No edge is there. ${got.nearNames?.length ? html`Did you mean ${got.nearNames.map((/** @type {string} */ each) => html`<a href=${href("graph", each)}><bdi>${each}</bdi></a> `)}?` : "Look one step further, or at what was replaced, too."}`);
  const end = (/** @type {any} */ each) => (each.kind === "ITEM_KIND_MEMORY" ? item(each.id) : html`<a href=${href("graph", each.name || each.id)}><bdi>${each.name || each.id}</bdi></a>`);
  return html`<h2>${got.edges.length.toLocaleString()} edges${got.truncated ? ", cut at this number" : ""}</h2>
    <table class="folds"><thead><tr><th>From</th><th>Relation</th><th>To</th><th>Held</th><th>Kind</th><th>State</th></tr></thead><tbody>
    ${got.edges.slice(0, shown).map((/** @type {any} */ each) => html`<tr data-row><td data-name="From">${end(each.source)}</td><td class="mono" data-name="Relation"><bdi>${each.relation}</bdi></td><td data-name="To">${end(each.target)}</td>
      <td data-name="Held">${day(each.supersession?.effectiveValidFrom ?? each.validFrom)}${each.supersession?.effectiveValidUntil ? html` to ${day(each.supersession.effectiveValidUntil)}` : nothing}</td>
      <td data-name="Kind">${badge(word(each.edgeType, "EDGE_TYPE"), each.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "warn" : "")}</td>
      <td data-name="State">${each.supersession?.isSuperseded ? badge("replaced", "bad") : nothing} ${each.claimed ? badge("claimed", "dashed") : nothing} ${healthBadge(each.health)}
        ${(each.conflictIds ?? []).map((/** @type {string} */ conflict) => html`<a class="badge dashed" href=${href("conflicts", conflict)}>Review conflict?</a>`)}</td></tr>`)}</tbody></table>
    ${got.edges.length > shown ? html`<button @click=${more}>More rows</button>` : nothing}`;
}
