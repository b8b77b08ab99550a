/** The base of a proposal: the items that it was made on, and what has become of them since. */

import { all, call, change } from "./calls.js";

const MOST = 20;
const KINDS = /** @type {Record<number, [string, string]>} */ ({ 1: ["graph.GraphService/GetNode", "node"], 2: ["graph.GraphService/GetEdge", "edge"] });
const MEMORY = 3;

/** @typedef {{id: string, etag: string, now: string, before: string, after: string}} Changed
 * an item, its etag then and now, and its words then and now; empty where they are not words */

/** Which items changed since the proposal was made, at most twenty of them.
 * @param {any} said what the signed bytes say @param {AbortSignal} signal @returns {Promise<Changed[]>} */
export async function changedSince(said, signal) {
  const existing = said.affected.filter((/** @type {any} */ each) => each.etag).slice(0, MOST);
  const found = await Promise.all(existing.map((/** @type {any} */ each) => look(each, signal)));
  return found.filter((each) => each && each.now !== each.etag);
}

/** @param {{id: string, kind: number, etag: string, statement?: string}} item @param {AbortSignal} signal
 * @returns {Promise<Changed | null>} null: of no kind that is looked at */
async function look({ id, kind, etag, statement = "" }, signal) {
  if (kind === MEMORY) {
    const versions = await all("graph.MemoryService/GetMemoryHistory", { id }, "versions", 200, signal);
    const newest = versions.reduce((a, b) => (Number(a.revision) > Number(b.revision) ? a : b), {});
    const before = versions.find((each) => each.memory?.etag === etag)?.memory;
    return { id, etag, now: newest.memory?.etag ?? "", before: before?.content ?? statement, after: newest.memory?.content ?? "" };
  }
  if (!KINDS[kind]) return null;
  const [method, name] = KINDS[kind];
  const now = (await call(method, { id, ...(name === "edge" && { peek: true }) }, signal))[name];
  return { id, etag, now: now?.etag ?? "", before: statement, after: "" };
}

/** Asks for the same change of what holds now: as a new revision by its proposer, as a proposal of
 * their own by others.
 * @param {any} proposal @param {any} said @param {Changed[]} changed @param {boolean} own @returns {Promise<any>} the proposal */
export async function askAgain(proposal, said, changed, own) {
  const etags = new Map(changed.map(({ etag, now }) => [etag, now]));
  /** @param {any} value @returns {any} */
  const renewed = (value) => {
    if (Array.isArray(value)) return value.map(renewed);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => {
      if (name === "request_id") return [name, crypto.randomUUID()];
      return [name, name === "etag" ? (etags.get(each) ?? each) : renewed(each)];
    }));
  };
  const action = renewed(said.action);
  const reply = own
    ? await change("governance.ProposalService/ReviseProposal", { proposalId: proposal.id, revision: proposal.revision, action, note: said.note ?? "" })
    : await change("governance.ProposalService/CreateProposal", { action, note: said.note ?? "", trigger: "PROPOSAL_TRIGGER_MANUAL" });
  return reply.proposal;
}
