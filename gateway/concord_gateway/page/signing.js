/** Signs statements as SIGNING.md states them, with a key that never leaves this browser. */

import { bytes, joined, sha256 } from "./merkle.js";

const STORE = "keys";

/** @returns {Promise<IDBDatabase>} */
const database = () => new Promise((done, failed) => {
  const opening = indexedDB.open("concord", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  opening.onsuccess = () => done(opening.result);
  opening.onerror = () => failed(opening.error);
});

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} */
async function kept(mode, act) {
  const db = await database();
  try {
    return await new Promise((done, failed) => {
      const asked = act(db.transaction(STORE, mode).objectStore(STORE));
      asked.onsuccess = () => done(asked.result);
      asked.onerror = () => failed(asked.error);
    });
  } finally {
    db.close();
  }
}

/** This browser's key for a principal of a space; null: it has none.
 * @param {string} space @param {string} principal @returns {Promise<CryptoKeyPair | null>} */
export const keyOf = async (space, principal) => (await kept("readonly", (store) => store.get(`${space}/${principal}`))) ?? null;

/** Makes that key, which cannot be read out, and keeps it in IndexedDB.
 * @param {string} space @param {string} principal @returns {Promise<CryptoKeyPair>} */
export async function newKey(space, principal) {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]));
  await kept("readwrite", (store) => store.put(pair, `${space}/${principal}`));
  return pair;
}

/** @param {CryptoKeyPair} pair its raw public key */
export const publicKey = async (pair) => new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));

/** @param {Uint8Array} data standard base64 */
export const base64 = (data) => btoa(Array.from(data, (each) => String.fromCharCode(each)).join(""));
/** @param {Uint8Array} data base64url without padding */
export const base64url = (data) => base64(data).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const hex = (/** @type {Uint8Array} */ data) => Array.from(data, (each) => each.toString(16).padStart(2, "0")).join("");
/** @param {string | Uint8Array<ArrayBuffer>} data its SHA-256 in hexadecimal */
export const digest = async (data) => hex(await sha256(typeof data === "string" ? new TextEncoder().encode(data) : data));

/** RFC 8785 of objects, arrays, strings and whole numbers: names sorted by their UTF-16 code units.
 * @param {any} value @returns {string} */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((each) => `${JSON.stringify(each)}:${canonical(value[each])}`).join(",")}}`;
}

/** A statement in its DSSE envelope, as base64 of the envelope's JSON, as requests carry it.
 * @param {CryptoKeyPair} pair @param {string} name @param {object} statement */
export async function signed(pair, name, statement) {
  const type = `application/vnd.concord.${name}.v1+json`;
  const utf8 = new TextEncoder();
  const payload = utf8.encode(canonical(statement));
  const encoded = joined(utf8.encode(`DSSEv1 ${utf8.encode(type).length} ${type} ${payload.length} `), payload);
  const sig = base64(new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, encoded)));
  const keyid = await digest(await publicKey(pair));
  return base64(utf8.encode(JSON.stringify({ payload: base64(payload), payloadType: type, signatures: [{ keyid, sig }] })));
}

const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** What a proposal's revision says, once its bytes have the digest that is named.
 * @param {any} proposal as governance sends it */
export async function revisionOf(proposal) {
  const raw = bytes(proposal.canonical);
  if ((await digest(raw)) !== proposal.digest) throw new Error("The bytes of this proposal have another digest than it names.");
  return { text: new TextDecoder("utf-8", { fatal: true }).decode(raw), digest: proposal.digest };
}

/** The consent to exactly the bytes that were shown.
 * @param {{text: string, digest: string}} revision @param {string} slot @param {string} principal */
export async function consent({ text, digest: proposalDigest }, slot, principal) {
  const said = JSON.parse(text);
  const etags = Object.fromEntries(said.affected.map((/** @type {any} */ each) => [each.id, each.etag]));
  return {
    version: 3, space: said.space, slot, principal, proposal_id: said.proposal_id, revision: said.revision,
    proposal_digest: proposalDigest, action_digest: said.action_digest, etags_digest: await digest(canonical(etags)),
    policy_digest: said.policy_digest, nonce: nonce(), expire_time: said.expire_time,
  };
}

/** @param {{text: string}} revision @param {string} slot @param {string} principal @param {string} reason */
export function rejection({ text }, slot, principal, reason) {
  const said = JSON.parse(text);
  return { version: 1, space: said.space, slot, principal, proposal_id: said.proposal_id, revision: said.revision, reason, nonce: nonce() };
}

/** The statement that adds this browser's key to a slot's (ADD), or with it retires another of them (RETIRE).
 * @param {CryptoKeyPair} pair @param {{space: string, slot: string, principal: string}} whose @param {"ADD" | "RETIRE"} does
 * @param {{key?: Uint8Array, label?: string}} what the key that is retired, the label of the one that is added */
export const keyChange = async (pair, { space, slot, principal }, does, { key, label = "" }) =>
  signed(pair, "key", { version: 2, space, slot, principal, change: does, public_key: base64url(key ?? (await publicKey(pair))), replaced_key: "", label });
