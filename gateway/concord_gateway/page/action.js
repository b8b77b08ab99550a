/** What an action asks for: its fields in words, beside what stands now. */

import { call } from "./calls.js";
import { difference, html, nothing, word, words } from "./parts.js";

const MOST = 20;
/** How an item of a kind is read, and by which name it comes. */
const READS = /** @type {Record<number, [string, string]>} */ ({
  1: ["graph.GraphService/GetNode", "node"], 2: ["graph.GraphService/GetEdge", "edge"], 3: ["graph.MemoryService/GetMemory", "memory"],
});
/** Fields that say nothing to people: they name the request and the version that was looked at. */
const SILENT = new Set(["requestId", "etag", "newerEtag", "olderEtag", "updateMask"]);

/** @param {string} name "edge_type" */
const camel = (name) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
/** @param {string} name "memory.edgeType" */
export const spoken = (name) => name.replaceAll(/([A-Z])/g, " $1").replaceAll(/[_.]/g, " ").toLowerCase();

/** The affected items as they stand now, by id, at most twenty: of those that need no consent the signed bytes have
 * no words. @param {any[]} affected @param {AbortSignal} signal @returns {Promise<Record<string, any>>} */
export async function standing(affected, signal) {
  const read = affected.filter((each) => each.etag && READS[each.kind]).slice(0, MOST);
  const found = await Promise.all(read.map(async ({ id, kind }) => {
    const [method, name] = READS[kind];
    const reply = await call(method, { id, ...(kind !== 1 && { peek: true }) }, signal).catch(() => ({}));
    return [id, reply[name]];
  }));
  return Object.fromEntries(found);
}

/** The words of an item. @param {any} item */
export function wordsOf(item) {
  if (!item) return "";
  const end = (/** @type {any} */ each) => each.name || each.id;
  return item.content ?? (item.relation ? `${end(item.source)} ${item.relation} ${end(item.target)}` : item.name ?? "");
}

/** A value of an action's field, as text. @param {string} name @param {any} value @returns {string} */
export function fieldText(name, value) {
  if (Array.isArray(value)) return value.map((each) => fieldText(name, each)).join(", ");
  if (value !== null && typeof value === "object") return JSON.stringify(value);
  const prefix = name.replaceAll(/([A-Z])/g, "_$1").toUpperCase();
  const at = String(value ?? "").indexOf(`${prefix}_`);
  return at >= 0 && /^[A-Z_]+$/.test(value) ? word(value.slice(at), prefix) : String(value ?? "");
}

/** The leaves of a request. @param {any} value @param {string} path @returns {[string, any][]} */
function leaves(value, path = "") {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, each]) => (SILENT.has(camel(name)) ? [] : leaves(each, path ? `${path}.${camel(name)}` : camel(name))));
}

/** What a request asks for, a field each; of a change with the difference to what stands now.
 * @param {any} request as JSON @param {Record<string, any>} now items by id */
export function asked(request, now = {}) {
  const mask = String(request.update_mask ?? request.updateMask ?? "").split(",").filter(Boolean).map(camel);
  const changed = mask.length ? Object.values(request).find((each) => each !== null && typeof each === "object") ?? {} : {};
  const after = Object.fromEntries(Object.entries(changed).map(([name, value]) => [camel(name), value]));
  const before = now[after.id];
  const rows = mask.length ? mask.map((name) => [name, after[name]]) : leaves(request);
  return html`<dl class="fields">${rows.map(([path, value]) => {
    const name = path.split(".").at(-1) ?? path;
    const next = fieldText(name, value), held = before ? fieldText(name, before[name]) : "";
    return html`<dt>${spoken(path.replace(/^(memory|edge|node)\./, ""))}</dt><dd>${before && held !== next ? difference(held, next || "nothing") : next ? words(next) : html`<p>nothing</p>`}</dd>`;
  })}</dl>`;
}

/** The name and the request of a proposal's action. @param {any} action @returns {[string, any]} */
export function named(action) {
  const [name, request] = Object.entries(action ?? {})[0] ?? ["", {}];
  return [spoken(name).replace(/^upsert/, "set"), request];
}
