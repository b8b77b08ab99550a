/** Who consents, with which keys: this browser's is one of a principal's, beside those of other devices. */

import { mayCall, mayChange, own } from "./access.js";
import { call, change, Refused } from "./calls.js";
import { bytes } from "./merkle.js";
import { ask, badge, html, nothing, word } from "./parts.js";
import { base64url, keyChange, keyOf, newKey, publicKey } from "./signing.js";
import { render } from "./vendor/lit-html/lit-html.js";

const PROPOSE = "governance.ProposalService/CreateProposal";
const slotOf = (/** @type {any} */ holder) => word(holder.slot, "SLOT").toUpperCase();
const isRetired = (/** @type {any} */ key) => Boolean(key.successorDigests?.length);

/** The slots of the space; none before its genesis.
 * @returns {Promise<any[]>} */
export async function holders() {
  if (!mayCall("governance.PrincipalService/GetPrincipals")) return [];
  return (await call("governance.PrincipalService/GetPrincipals")).slots ?? [];
}

/** Whose slot the signed-in key may sign for, and whether this browser's key counts there. */
export async function signerOf() {
  const slots = await holders();
  const mine = slots.find((each) => each.principal === own.principal)
    ?? slots.find((each) => word(each.slot, "SLOT") === word(own.kind, "PRINCIPAL_KIND"));
  const pair = mine ? await keyOf(own.space, mine.principal) : null;
  const ours = pair ? base64url(await publicKey(pair)) : "";
  const counts = Boolean(ours) && mine.keys.some((/** @type {any} */ each) => !isRetired(each) && base64url(bytes(each.publicKey)) === ours);
  return { slot: mine ? slotOf(mine) : "", principal: mine?.principal ?? "", pair, ours, counts };
}

/** Asks to let this browser sign, and proposes its key beside the others; null: somebody thought better of it.
 * @param {{slot: string, principal: string}} signer */
export async function enrolled(signer) {
  const said = await ask({ title: `Let this browser sign for ${signer.principal}`, yes: "Propose it",
    text: html`<p>A key is made that cannot leave this browser. A proposal then adds it to the keys of ${signer.principal}; both principals consent to it with their present keys. Until then nothing changes; afterwards each of the keys signs alone, and any of them can take this one back.</p>`,
    fields: [{ name: "label", label: "Whose device this is, as others see it", value: "browser", required: true }] }, render);
  if (!said) return null;
  const kept = await keyOf(own.space, signer.principal);
  try {
    return await proposed(kept ?? (await newKey(own.space, signer.principal)), signer, "ADD", said);
  } catch (error) {
    if (!kept || !(error instanceof Refused) || error.metadata.check !== "retired_key") throw error;
    return await proposed(await newKey(own.space, signer.principal), signer, "ADD", said); // a retired key does not come back
  }
}

/** Asks whether a key shall sign no more, and proposes it, signed by this browser's key, which stays.
 * @param {any} signer @param {any} key */
export async function retired(signer, key) {
  const said = await ask({ title: `Take a key of ${signer.principal} back`, yes: "Propose it",
    text: html`<p>The key ${key.label ? html`<q><bdi>${key.label}</bdi></q>` : nothing} <span class="mono">${base64url(bytes(key.publicKey))}</span> signs nothing more once both principals have consented, and does not come back.</p>` }, render);
  return said && (await proposed(signer.pair, signer, "RETIRE", { key: bytes(key.publicKey) }));
}

/** @param {CryptoKeyPair} pair @param {any} signer @param {"ADD" | "RETIRE"} does @param {any} what */
async function proposed(pair, signer, does, what) {
  const proof = await keyChange(pair, { space: own.space, slot: signer.slot, principal: signer.principal }, does, what);
  const action = { changeKey: { requestId: crypto.randomUUID(), proof } };
  return (await change(PROPOSE, { action, trigger: "PROPOSAL_TRIGGER_MANUAL" })).proposal;
}

/** The keys of each slot: whose device each is on, and how one is taken back.
 * @param {any[]} slots @param {any} signer @param {{retire: (key: any) => void, enrol: () => void}} act */
export function principals(slots, signer, act) {
  const name = (/** @type {any} */ key) => base64url(bytes(key.publicKey));
  const takes = (/** @type {any} */ slot, /** @type {any} */ key) => {
    if (slot.keys.length < 2) return nothing;
    const ours = signer.counts && slotOf(slot) === signer.slot && name(key) !== signer.ours;
    return ours && mayChange(PROPOSE) ? html`<button class="small" @click=${() => act.retire(key)}>Take it back…</button>` : html`<code>concord principal retire --slot ${slotOf(slot).toLowerCase()} ${name(key)}</code>`;
  };
  const mine = slots.find((each) => slotOf(each) === signer.slot);
  return html`<h2>Who consents</h2><table class="folds"><thead><tr><th>Principal</th><th>Key</th><th>Device</th><th></th></tr></thead><tbody>
    ${slots.flatMap((slot) => slot.keys.map((/** @type {any} */ key) => html`<tr data-row><td><bdi>${slot.principal}</bdi> (${word(slot.slot, "SLOT")})</td><td data-name="Key" class="mono">${name(key)}</td>
      <td data-name="Device"><bdi>${key.label || "of the genesis"}</bdi> ${name(key) === signer.ours ? badge("this browser", "good") : nothing} ${isRetired(key) ? badge("signs nothing", "bad") : nothing}</td><td>${takes(slot, key)}</td></tr>`))}</tbody></table>
    ${mine && !signer.counts && mayChange(PROPOSE) ? html`<div class="row"><button @click=${act.enrol}>Let this browser sign…</button></div>` : nothing}`;
}
