/** What is shown, in the address: `#/VIEW/ID?name=value`. It can be shared, and "back" works. */

/** @typedef {{view: string, id: string, params: URLSearchParams}} Place */

/** @returns {Place} */
export function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...id] = path.split("/");
  return { view: view || "today", id: decoded(id.join("/")), params: new URLSearchParams(query) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const TIMES = ["held", "known"];

/** The address of a view; the times that are looked at stay.
 * @param {string} view @param {string} [id] @param {Record<string, string | undefined>} [params] */
export function href(view, id = "", params = {}) {
  const query = new URLSearchParams();
  for (const name of TIMES) {
    const kept = place().params.get(name);
    if (kept && !(name in params)) query.set(name, kept);
  }
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const path = id ? `${view}/${encodeURIComponent(id)}` : view;
  return `#/${path}${query.size ? `?${query}` : ""}`;
}

/** Goes to this view with some filters changed; empty ones are taken out.
 * @param {Record<string, string | undefined>} changes @param {{replace?: boolean}} [how] */
export function go(changes, { replace = false } = {}) {
  const { view, id, params } = place();
  for (const [name, value] of Object.entries(changes)) {
    if (value) params.set(name, value);
    else params.delete(name);
  }
  const path = id ? `${view}/${encodeURIComponent(id)}` : view;
  const to = `#/${path}${params.size ? `?${params}` : ""}`;
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

/** A time of the address, for a call; one that is none is sent as it is, and refused in words. @param {string} text */
function instant(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

/** The times that reads are asked for; absent: now.
 * @returns {{asOf?: {validTime?: string, recordTime?: string}}} */
export function asOf() {
  const { params } = place();
  const [held, known] = TIMES.map((name) => params.get(name));
  if (!held && !known) return {};
  return { asOf: { ...(held && { validTime: instant(held) }), ...(known && { recordTime: instant(known) }) } };
}

/** Whether something with these times holds at the time that is looked at; else in words why not.
 * @param {{effectiveValidFrom?: string, effectiveValidUntil?: string} | undefined} times @returns {string} */
export function outside(times) {
  const held = asOf().asOf?.validTime, at = held ? new Date(held) : new Date(), then = held ? "did not hold" : "does not hold";
  if (times?.effectiveValidFrom && new Date(times.effectiveValidFrom) > at) return `${then} yet`;
  return times?.effectiveValidUntil && new Date(times.effectiveValidUntil) <= at ? `${then} any more` : "";
}

/** Whether a past is looked at, where nothing can be changed. */
export const inThePast = () => Boolean(asOf().asOf);
