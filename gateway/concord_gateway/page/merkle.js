/** Checks the audit log in the browser: RFC 6962 proofs, and the checkpoint that is signed.
 * The algorithms are those of RFC 9162, 2.1.3.2 and 2.1.4.2. */

/** @param {string} text base64, of either alphabet */
export const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const all = new Uint8Array(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of parts) {
    all.set(each, at);
    at += each.length;
  }
  return all;
}

/** @param {Uint8Array<ArrayBuffer>} data */
export const sha256 = async (data) => new Uint8Array(await crypto.subtle.digest("SHA-256", data));
const leafHash = (/** @type {Uint8Array} */ leaf) => sha256(joined(Uint8Array.of(0), leaf));
const nodeHash = (/** @type {Uint8Array} */ left, /** @type {Uint8Array} */ right) => sha256(joined(Uint8Array.of(1), left, right));
const same = (/** @type {Uint8Array} */ a, /** @type {Uint8Array} */ b) => a.length === b.length && a.every((each, at) => each === b[at]);

/** Whether a leaf stands at its index in the tree with this root.
 * @param {Uint8Array} leaf @param {number} index @param {number} size @param {Uint8Array[]} proof @param {Uint8Array} root */
export async function included(leaf, index, size, proof, root) {
  if (index >= size) return false;
  let [fn, sn, hash] = [index, size - 1, await leafHash(leaf)];
  for (const each of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      hash = await nodeHash(each, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else hash = await nodeHash(hash, each);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && same(hash, root);
}

/** Whether the tree of `newSize` begins with that of `oldSize`.
 * @param {number} oldSize @param {Uint8Array} oldRoot @param {number} newSize @param {Uint8Array} newRoot @param {Uint8Array[]} proof */
export async function consistent(oldSize, oldRoot, newSize, newRoot, proof) {
  if (oldSize > newSize) return false;
  if (oldSize === newSize) return proof.length === 0 && same(oldRoot, newRoot);
  if (oldSize === 0) return proof.length === 0;
  const path = Number.isInteger(Math.log2(oldSize)) ? [oldRoot, ...proof] : [...proof];
  if (path.length === 0) return false;
  let [fn, sn] = [oldSize - 1, newSize - 1];
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  let [fr, sr] = [path[0], path[0]];
  for (const each of path.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [await nodeHash(each, fr), await nodeHash(each, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else sr = await nodeHash(sr, each);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && same(fr, oldRoot) && same(sr, newRoot);
}

/** A signed checkpoint (c2sp.org/tlog-checkpoint), once its signature by the log's key holds.
 * @param {string} text @param {Uint8Array<ArrayBuffer>} key the log's raw public key @param {string} origin the log's name
 * @returns {Promise<{size: number, root: Uint8Array}>} */
export async function checkpoint(text, key, origin) {
  const end = text.indexOf("\n\n") + 1;
  const signed = text.slice(0, end);
  const [named, size, root] = signed.split("\n");
  const line = text.slice(end + 1).split("\n").find((each) => each.startsWith(`\u2014 ${origin} `));
  if (named !== origin || !line) throw new Error("The checkpoint names another log.");
  const signature = bytes(line.slice(line.lastIndexOf(" ") + 1)).slice(4); // the key's id comes first
  const verifier = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  if (!(await crypto.subtle.verify("Ed25519", verifier, signature, new TextEncoder().encode(signed))))
    throw new Error("The checkpoint's signature is not by this log's key.");
  return { size: Number(size), root: bytes(root) };
}
