/** Signing in and out. The secret lives in this tab's sessionStorage; its other half is a cookie
 * that scripts cannot read, and neither opens anything without the other. */

const KEPT = "concord-session";

/** @returns {string} the tab's secret; empty when nobody is signed in */
export const secret = () => sessionStorage.getItem(KEPT) ?? "";

/** Takes a one-time code out of the address, so that it is neither kept nor shared.
 * @returns {string} the code; empty without one */
export function codeOfAddress() {
  const code = /^#code=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1] ?? "";
  if (code) history.replaceState(null, "", "/#/today");
  return code;
}

/** Exchanges a one-time code, or an API key, for a session. The key is not kept.
 * @param {{code?: string, key?: string}} by
 * @returns {Promise<Response>} not ok: the refusal */
export async function signIn({ code, key }) {
  const reply = await fetch("/session", {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(code ? { code } : {}),
  });
  if (reply.ok) sessionStorage.setItem(KEPT, (await reply.clone().json()).secret);
  return reply;
}

/** Ends the session, here and at the server. */
export async function signOut() {
  const headers = { "content-type": "application/json", "x-concord-session": secret() };
  forget();
  await fetch("/session", { method: "DELETE", headers });
}

/** Forgets the session in this tab. */
export const forget = () => sessionStorage.removeItem(KEPT);
