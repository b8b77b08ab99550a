/** Calls of the gateway's methods: Connect's JSON over POST, as the session of this tab. */

import { forget, secret } from "./session.js";

/** What a method refused: the contract's sentence, and its reason for machines. */
export class Refused extends Error {
  /** @param {{message?: string, code?: string, details?: any[]}} said @param {number} status */
  constructor(said, status) {
    super(said.message || `The gateway answered with the status ${status}.`);
    this.code = said.code ?? "unknown";
    const info = (said.details ?? []).map((each) => each.debug ?? {});
    this.reason = info.find((each) => each.reason)?.reason ?? "";
    this.metadata = info.find((each) => each.metadata)?.metadata ?? {};
    this.violations = info.flatMap((each) => each.fieldViolations ?? []);
    this.status = status;
  }
}

let unanswered = false;

/** The gateway did not answer at all. */
export function silent() {
  unanswered = true;
  return new Refused({ code: "unavailable", message: "The gateway does not answer. What is shown may be old." }, 0);
}

/** @returns {boolean} whether any call went unanswered since this was last asked */
export function wentUnanswered() {
  const was = unanswered;
  unanswered = false;
  return was;
}

let onEnded = () => {};
/** @param {() => void} then what happens when the session has ended */
export const whenEnded = (then) => (onEnded = then);

/** @param {Response} reply @returns {Promise<Refused>} */
export async function refusalOf(reply) {
  const said = await reply.json().catch(() => ({}));
  return new Refused(said, reply.status);
}

/** @param {string} method such as "graph.MemoryService/GetMemory" */
export const pathOf = (method) => `/concord.${method.replace(".", ".v1.")}`;

/** @param {string} method @param {object} request @param {object} extra @param {AbortSignal} [signal] */
async function posted(method, request, extra, signal) {
  let reply;
  try {
    reply = await fetch(pathOf(method), {
      method: "POST",
      headers: { "content-type": "application/json", "x-concord-session": secret(), ...extra },
      body: JSON.stringify(request),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw silent();
  }
  if (reply.ok) return reply;
  const refusal = await refusalOf(reply);
  if (reply.status === 401) {
    forget();
    onEnded();
  }
  throw refusal;
}

/** Calls a method of one request and one reply.
 * @param {string} method @param {object} [request] @param {AbortSignal} [signal]
 * @returns {Promise<any>} the reply as JSON */
export const call = async (method, request = {}, signal) => (await posted(method, request, {}, signal)).json();

/** Calls a method that changes something: with a request id, so that sent twice it acts once.
 * @param {string} method @param {object} request */
export const change = (method, request) => call(method, { requestId: crypto.randomUUID(), ...request });

/** Calls a method that answers with many messages; `onMessage` gets each as it comes.
 * @param {string} method @param {object} request @param {(message: any) => void} onMessage
 * @param {AbortSignal} [signal] */
export async function stream(method, request, onMessage, signal) {
  const reply = await posted(method, request, { accept: "application/x-ndjson" }, signal);
  const reader = /** @type {ReadableStream<any>} */ (reply.body).pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : /** @type {string} */ (lines.pop());
    for (const line of lines.filter(Boolean)) {
      const said = JSON.parse(line);
      if (said.error) throw new Refused(said.error, 200);
      onMessage(said.result);
    }
    if (done) return;
  }
}

/** The items of all pages of a list, up to `most`.
 * @param {string} method @param {object} request @param {string} field @param {number} most
 * @param {AbortSignal} [signal] */
export async function all(method, request, field, most, signal) {
  const items = [];
  for (let pageToken = ""; items.length < most;) {
    const reply = await call(method, { ...request, pageSize: Math.min(200, most - items.length), pageToken }, signal);
    items.push(...(reply[field] ?? []));
    pageToken = reply.nextPageToken ?? "";
    if (!pageToken) break;
  }
  return items;
}

/** A list as it was shown, read again: as many pages as that takes, so that what was opened stays.
 * @param {(pageToken: string) => Promise<any>} read @param {string} field @param {number} least items that were shown
 * @returns {Promise<any>} the last reply, with the items of all pages */
export async function again(read, field, least) {
  let got = await read("");
  while (got.nextPageToken && (got[field] ?? []).length < least) got = joined(got, await read(got.nextPageToken), field);
  return got;
}

/** @param {any} got @param {any} next @param {string} field */
export const joined = (got, next, field) => ({ ...got, ...next, [field]: [...(got[field] ?? []), ...(next[field] ?? [])] });
