/** System: the health of the services in words, the index, counts, keys and spaces. */

import { mayCall, mayChange, own } from "../access.js";
import { all, call, change } from "../calls.js";
import { announce, ask, badge, empty, html, nothing, refusal, time, word } from "../parts.js";
import { enrolled, holders, principals, retired, signerOf } from "../principals.js";
import { href } from "../state.js";
import { render } from "../vendor/lit-html/lit-html.js";

/** @param {import("./view.js").Opened} opened */
export function open({ signal, update }) {
  /** @type {Record<string, any>} */
  const got = {};

  const get = async (/** @type {string} */ name, /** @type {() => Promise<any>} */ asked) => {
    got[name] = await asked().catch((error) => ({ failed: error }));
    update();
  };
  const keys = () => all("governance.AccessService/ListKeys", { includeEnded: true }, "keys", 500);

  async function load() {
    await Promise.all([
      get("health", async () => (await fetch("/healthz", { signal })).json()),
      get("counts", () => call("graph.SpaceService/CountByType", {}, signal)),
      mayCall("search.IndexService/GetIndexStatus") ? get("index", () => call("search.IndexService/GetIndexStatus", {}, signal)) : null,
      mayCall("dissonance.DissonanceService/ListJudges") ? get("judges", () => call("dissonance.DissonanceService/ListJudges", {}, signal)) : null,
      get("signer", signerOf),
      get("holders", holders),
      mayCall("governance.AccessService/ListKeys") ? get("keys", keys) : null,
      mayCall("governance.AccessService/ListSpaces") ? get("spaces", () => all("governance.AccessService/ListSpaces", {}, "spaces", 1000)) : null,
    ]);
  }

  const revoke = (/** @type {any} */ key) => async () => {
    const said = await ask({ title: `Revoke the key ${key.id} of ${key.principal}?`, text: html`<p>Whoever uses it is refused within five seconds. It cannot be given back.</p>`, yes: "Revoke" }, render);
    if (!said) return;
    await change("governance.AccessService/RevokeKey", { keyId: key.id }).then(() => announce("Revoked."), (error) => announce(error.message));
    await get("keys", keys);
  };

  const proposing = (/** @type {() => Promise<any>} */ asked) => asked().then((made) => {
    if (made) location.hash = href("proposals", made.id);
  }, (error) => announce(error.message));
  const act = { retire: (/** @type {any} */ key) => proposing(() => retired(got.signer, key)), enrol: () => proposing(() => enrolled(got.signer)) };
  const consenting = () => got.holders?.length && got.signer && !got.signer.failed ? principals(got.holders, got.signer, act) : refusal(got.holders?.failed ?? got.signer?.failed);

  return { load, draw: () => html`<h1>System</h1>${health(got.health)} ${counts(got.counts)} ${index(got.index)} ${judges(got.judges)} ${consenting()} ${keyTable(got.keys, revoke)} ${spaces(got.spaces)}` };
}

/** @param {any} said */
function health(said) {
  if (!said) return html`<p class="quiet">Loading…</p>`;
  if (said.failed) return html`<p>${badge("no answer", "bad")} The gateway does not answer.</p>`;
  return html`<h2>Services</h2><ul>${Object.entries(said.services ?? {}).map(([name, serves]) => html`<li>${badge(serves ? "serves" : "does not serve", serves ? "good" : "bad")} ${name.replace("concord.", "")}
    ${said.failing?.[name] ? html`: failing: ${said.failing[name].join(", ")}` : nothing}</li>`)}</ul>`;
}

/** @param {any} said */
function counts(said) {
  if (!said || said.failed) return refusal(said?.failed);
  const shown = /** @type {const} */ ([["memories", "memories"], ["rawDialogues", "turns of dialogues"], ["nodes", "nodes"], ["edges", "edges"], ["episodes", "episodes"], ["workingMemory", "notes of working memory"], ["deleted", "forgotten"]]);
  return html`<h2>Space <bdi>${own.space}</bdi></h2><div class="tally">${shown.map(([field, name]) => html`<div><b>${Number(said[field] ?? 0).toLocaleString()}</b>${name}</div>`)}</div>`;
}

/** @param {any} said */
function index(said) {
  if (!said || said.failed) return refusal(said?.failed);
  const lag = Number(said.headSeq ?? 0) - Number(said.appliedSeq ?? 0);
  return html`<h2>Index</h2><p>${badge(said.following ? (lag ? `${lag} changes behind` : "up to date") : "not connected", said.following && !lag ? "good" : "warn")}
    ${Number(said.indexedMemories ?? 0).toLocaleString()} memories, model <bdi>${said.model?.modelId}</bdi>.
    ${Number(said.parkedChanges ?? 0) ? html`${badge(`${said.parkedChanges} changes could not be indexed`, "bad")}` : nothing}
    ${Number(said.unreadTexts ?? 0) ? html`${said.unreadTexts} texts are in a script that the model does not read: they are found by their letters.` : nothing}</p>`;
}

/** @param {any} said */
function judges(said) {
  if (!said?.judges) return nothing;
  return html`<h2>Judges of conflicts</h2><ul>${said.judges.map((/** @type {any} */ each) => html`<li>${word(each.judge, "JUDGE")} ${each.modelId ?? ""}</li>`)}</ul>`;
}

/** @param {any} said @param {(key: any) => () => void} revoke */
function keyTable(said, revoke) {
  if (!said || said.failed) return refusal(said?.failed);
  const status = (/** @type {any} */ key) => word(key.status, "KEY_STATUS");
  return html`<h2>Keys</h2>${said.length === 0 ? empty("No key.") : html`<table class="folds"><thead><tr><th>Key</th><th>Principal</th><th>May</th><th>State</th><th>Last use</th><th></th></tr></thead><tbody>
    ${said.map((/** @type {any} */ each) => html`<tr data-row><td class="mono">${each.id}</td><td data-name="Principal"><bdi>${each.principal}</bdi> (${word(each.kind, "PRINCIPAL_KIND")})</td>
      <td data-name="May">${(each.scopes ?? []).map((/** @type {string} */ scope) => word(scope, "KEY_SCOPE")).join(", ")}</td>
      <td data-name="State">${badge(status(each), status(each) === "active" ? "good" : "bad")} ${each.expireTime ? html`ends ${time(each.expireTime)}` : nothing}</td><td data-name="Last use">${time(each.lastUseTime)}</td>
      <td>${status(each) === "active" && mayChange("governance.AccessService/RevokeKey") ? html`<button class="small" @click=${revoke(each)}>Revoke…</button>` : nothing}</td></tr>`)}</tbody></table>`}`;
}

/** @param {any} said */
function spaces(said) {
  if (!said || said.failed) return refusal(said?.failed);
  return html`<h2>Spaces</h2><ul>${said.map((/** @type {any} */ each) => html`<li><bdi>${each.name}</bdi>, ${time(each.createTime)}</li>`)}</ul>`;
}
