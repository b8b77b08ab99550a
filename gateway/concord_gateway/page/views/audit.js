/** Audit: the log of what was decided, newest first; its proofs are checked in this browser. */

import { own } from "../access.js";
import { again, call, joined } from "../calls.js";
import { setKeys, press } from "../keys.js";
import { bytes, checkpoint, consistent, included } from "../merkle.js";
import { badge, choice, empty, html, item, kindOf, nothing, refusal, time, word } from "../parts.js";
import { asOf, go, href } from "../state.js";

const ACTIONS = [
  "GENESIS", "SMF_PROPOSE", "SMF_REVISE", "SMF_APPROVE", "SMF_REVOKE", "SMF_REJECT", "SMF_WITHDRAW", "SMF_EXPIRE", "SMF_DECIDE", "SMF_EXECUTE", "SMF_FAIL", "SMF_UNDO", "SMF_SETTLE",
  "WRITE_SUCCESS", "WRITE_ATTEMPT", "DELETE_SUCCESS", "DELETE_ATTEMPT", "FRAMING_VIOLATION", "SAFEGUARD_VIOLATION", "CONSENT_REFUSED", "SELECTION_ERASED", "IMPORT", "RESTORE",
  "KEY_CREATE", "KEY_REVOKE", "SPACE_CREATE", "SPACE_DELETE",
];
const ACTORS = ["AGENT", "HUMAN", "SYSTEM"];

/** @param {import("./view.js").Opened} opened */
export function open({ params, signal, update }) {
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** @type {{good: boolean, said: string} | null} */
  let log = null;
  /** @type {Map<string, {good: boolean, said: string}>} */
  const proved = new Map();

  async function load(pageToken = "") {
    try {
      const read = (/** @type {string} */ token) => call("governance.AuditService/ListAuditEntries", {
        pageSize: 50, pageToken: token, itemId: params.get("item") ?? "",
        ...(params.get("action") && { actions: [`AUDIT_ACTION_${params.get("action")}`] }),
        ...(params.get("actor") && { actor: `PRINCIPAL_KIND_${params.get("actor")}` }),
        ...(asOf().asOf?.recordTime && { until: asOf().asOf?.recordTime }),
        ...(params.get("since") && { since: new Date(String(params.get("since"))).toISOString() }),
      }, signal);
      got = pageToken ? joined(got, await read(pageToken), "entries") : await again(read, "entries", got?.entries?.length ?? 0);
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
    if (!pageToken) {
      log = await witnessed().catch((error) => ({ good: false, said: error.message }));
      update();
    }
  }

  const prove = (/** @type {any} */ entry) => async () => {
    proved.set(entry.index ?? "0", await inclusion(entry).catch((error) => ({ good: false, said: error.message })));
    update();
  };

  setKeys([{ key: "p", does: "check the entry's proof", act: press("prove") }]);
  return {
    load: () => load(),
    draw: () => html`<h1>Audit</h1>
      <p role="status">${log ? html`${badge(log.good ? "verified" : "not verified", log.good ? "good" : "bad")} ${log.said}` : "Checking the log…"}</p>
      ${filters(params)} ${refusal(failed)}
      ${!got ? html`<p class="quiet">Loading…</p>` : (got.entries ?? []).length === 0 ? empty("No entry passes these filters. Entries begin with the genesis of the space, and with refused attempts.") : table(got.entries, proved, prove)}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More</button>` : nothing}`,
  };
}

/** The newest checkpoint, once its signature holds. */
async function newest() {
  const [{ checkpoint: text }, { logKey, logOrigin }] = await Promise.all([
    call("governance.AuditService/GetCheckpoint"), call("governance.PrincipalService/GetPrincipals"),
  ]);
  return { text, key: logKey, ...(await checkpoint(text, bytes(logKey), logOrigin)), origin: logOrigin };
}

/** Compares the log with the last checkpoint that this browser saw, and remembers the newest.
 * @returns {Promise<{good: boolean, said: string}>} */
async function witnessed() {
  const now = await newest();
  const kept = `concord-witness/${own.space}/${now.origin}`;
  const before = JSON.parse(localStorage.getItem(kept) ?? "null");
  const said = `Signed checkpoint of ${now.size} entries`;
  if (before && before.key !== now.key) return { good: false, said: `${said}, by another key than this browser saw before.` };
  if (before) {
    const old = await checkpoint(before.text, bytes(before.key), now.origin);
    const { hashes = [] } = old.size && old.size < now.size
      ? await call("governance.AuditService/GetConsistencyProof", { oldSize: String(old.size), newSize: String(now.size) }) : {};
    if (!(await consistent(old.size, old.root, now.size, now.root, hashes.map(bytes))))
      return { good: false, said: `${said}; it does not continue the log of ${old.size} entries that this browser saw before.` };
  }
  localStorage.setItem(kept, JSON.stringify({ text: now.text, key: now.key }));
  return { good: true, said: before ? `${said}; it continues the log that this browser saw before.` : `${said}; the first that this browser sees.` };
}

/** @param {any} entry @returns {Promise<{good: boolean, said: string}>} */
async function inclusion(entry) {
  const now = await newest();
  const index = Number(entry.index ?? 0);
  const { leaf, hashes = [] } = await call("governance.AuditService/GetInclusionProof", { index: String(index), treeSize: String(now.size) });
  const good = leaf === entry.leaf && (await included(bytes(entry.leaf), index, now.size, hashes.map(bytes), now.root));
  return { good, said: good ? `In the signed log of ${now.size} entries.` : "The proof does not lead to the signed checkpoint." };
}

/** @param {URLSearchParams} params */
function filters(params) {
  return html`<div class="row">${choice(params, "action", "Action", ACTIONS, "any")} ${choice(params, "actor", "Actor", ACTORS)}
    <label>Since <input type="date" .value=${params.get("since") ?? ""} @change=${(/** @type {Event} */ event) => go({ since: /** @type {HTMLInputElement} */ (event.target).value })}></label>
    ${params.get("item") ? html`<button class="small" @click=${() => go({ item: "" })}>Item <bdi>${params.get("item")}</bdi> ✕</button>` : nothing}</div>`;
}

/** @param {any[]} entries @param {Map<string, {good: boolean, said: string}>} proved @param {(entry: any) => () => void} prove */
function table(entries, proved, prove) {
  return html`<table class="folds"><thead><tr><th class="num">Entry</th><th>When</th><th>What</th><th>Who</th><th>Item</th><th>Proof</th></tr></thead><tbody>
    ${entries.map((each) => {
      const proof = proved.get(each.index ?? "0");
      return html`<tr data-row><td class="num" data-name="Entry">${each.index ?? 0}</td><td class="short" data-name="When">${time(each.time)}</td>
        <td data-name="What">${word(each.action, "AUDIT_ACTION").replace(/^smf /, "proposal: ")} ${each.blocked ? badge("refused", "bad") : nothing}<div class="quiet">${each.reason}</div></td>
        <td data-name="Who">${word(each.actor, "PRINCIPAL_KIND")} <bdi>${each.principal}</bdi></td>
        <td data-name=${each.itemId || each.proposalId ? "Item" : nothing}>${item(each.itemId, kindOf(JSON.parse(new TextDecoder().decode(bytes(each.leaf))).item?.kind))} ${each.proposalId ? html`<a href=${href("proposals", each.proposalId)}>its proposal</a>` : nothing}</td>
        <td data-name="Proof">${proof ? html`${badge(proof.good ? "holds" : "fails", proof.good ? "good" : "bad", proof.said)}` : html`<button class="small" data-key="prove" @click=${prove(each)}>Check</button>`}</td></tr>`;
    })}</tbody></table>`;
}
