/** Memories: search, or the newest first, with filters; each result says why it is there. */

import { mayChange } from "../access.js";
import { again, call, change, joined } from "../calls.js";
import { press, setKeys } from "../keys.js";
import { announce, badge, bandBadge, choice, copies, empty, healthBadge, html, item, nothing, quoted, refusal, time, word, words } from "../parts.js";
import { asOf, go, href } from "../state.js";
import { claimBadges } from "./claims.js";

const KINDS = ["FACT", "PLAN", "JOURNAL", "INSIGHT", "OBSERVATION", "REFLECTION", "TURN"];
const ORIGINS = ["HUMAN", "AGENT", "TOOL", "IMPORT"];
const FILTERS = ["kind", "origin", "session", "tag", "domain", "held", "known"];
const CHIPS = /** @type {const} */ (["session", "tag", "domain"]);
const PAGE = 25;

/** @param {import("./view.js").Opened} opened */
export function open({ params, signal, update }) {
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  /** @type {unknown} */
  let addFailed = null;
  const query = params.get("q") ?? "";
  const history = params.get("all") === "1";

  async function load(pageToken = "") {
    try {
      const read = (/** @type {string} */ token) => (query ? search : list)(params, history, token, signal);
      got = pageToken ? joined(got, await read(pageToken), "results") : await again(read, "results", got?.results?.length ?? 0);
      failed = null;
    } catch (error) {
      failed = error;
    }
    update();
  }

  async function add(/** @type {SubmitEvent} */ event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const fields = new FormData(form);
    try {
      const { memory } = await change("graph.MemoryService/AddMemory", {
        memory: { content: String(fields.get("content")), kind: `MEMORY_KIND_${fields.get("kind")}` },
      });
      form.reset();
      addFailed = null;
      announce(`Remembered ${memory.id}.`);
      go({ add: "" });
    } catch (error) {
      addFailed = error;
      update();
    }
  }

  setKeys([{ key: "a", does: "add a memory", act: () => go({ add: "1" }) }, { key: "c", does: "copy the CLI command", act: press("copy") }]);
  return {
    load: async () => {
      if (!got && params.get("add") === "1") /** @type {HTMLElement | null} */ (document.querySelector("main textarea"))?.focus();
      await load();
    },
    draw: () => html`<h1>Memories</h1>
      ${filters(params, query, history)}
      ${mayChange("graph.MemoryService/AddMemory") ? adding(params, add, addFailed) : nothing}
      ${refusal(failed)}
      ${got ? results(got, query, FILTERS.some((each) => params.has(each))) : html`<p class="quiet">Loading…</p>`}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More</button>` : nothing}`,
  };
}

/** @param {URLSearchParams} params @param {boolean} history @param {string} pageToken @param {AbortSignal} signal */
async function search(params, history, pageToken, signal) {
  const filter = filterOf(params);
  return {
    ...(await call("search.SearchService/Search", {
      query: params.get("q"), filter, pageSize: PAGE, pageToken, peek: true, ...asOf(),
      ...(history && { superseded: "SUPERSEDED_MODE_INCLUDE" }),
    }, signal)),
    isSearch: true,
  };
}

/** @param {URLSearchParams} params @param {boolean} history @param {string} pageToken @param {AbortSignal} signal */
async function list(params, history, pageToken, signal) {
  const { memories = [], nextPageToken } = await call("graph.MemoryService/ListMemories", {
    filter: filterOf(params), includeSuperseded: history, pageSize: PAGE, pageToken, ...asOf(),
  }, signal);
  return { results: memories.map((/** @type {any} */ memory) => ({ memory })), nextPageToken };
}

/** @param {URLSearchParams} params */
function filterOf(params) {
  const kind = params.get("kind"), origin = params.get("origin"), [session, tag, domain] = CHIPS.map((name) => params.get(name));
  return {
    ...(kind && { kinds: [`MEMORY_KIND_${kind}`] }),
    ...(origin && { origins: [`ORIGIN_${origin}`] }),
    ...(session && { sessionId: session }), ...(tag && { tag }), ...(domain && { domain }),
  };
}

/** @param {URLSearchParams} params @param {string} query @param {boolean} history */
function filters(params, query, history) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    go({ q: String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("q")) });
  };
  return html`<form class="row" role="search" @submit=${submit}>
      <input class="grow" type="search" name="q" aria-label="Search memories" placeholder="Ask in your own words" .value=${query}>
      <button class="main">Search</button>
    </form>
    <div class="row">${choice(params, "kind", "Kind", KINDS)} ${choice(params, "origin", "Written by", ORIGINS)}
      <label><input type="checkbox" .checked=${history} @change=${() => go({ all: history ? "" : "1" })}> with what was replaced</label>
      ${CHIPS.map((name) => params.get(name) ? html`<button class="small" @click=${() => go({ [name]: "" })}>${name} <bdi>${params.get(name)}</bdi> ✕</button>` : nothing)}
    </div>`;
}

/** @param {URLSearchParams} params @param {(event: SubmitEvent) => void} add @param {unknown} failed */
function adding(params, add, failed) {
  if (params.get("add") !== "1") return html`<p><button @click=${() => go({ add: "1" })} aria-keyshortcuts="a">Add a memory</button></p>`;
  return html`<form class="stack card" @submit=${add}>
    <label>What is to be remembered <textarea name="content" required maxlength="20000"></textarea></label>
    <label>Kind <select name="kind">${KINDS.map((each) => html`<option value=${each}>${each.toLowerCase()}</option>`)}</select></label>
    ${refusal(failed)}
    <div class="row"><button class="main">Remember</button><button type="button" @click=${() => go({ add: "" })}>Leave it</button></div>
  </form>`;
}

/** @param {any} got @param {string} query @param {boolean} isFiltered */
function results(got, query, isFiltered) {
  if (got.results === undefined || got.results.length === 0)
    return empty(query
      ? html`Nothing is found. Try other words, or look <a href=${href("memories", "", { q: query, all: "1" })}>at what was replaced, too</a>.`
      : isFiltered ? html`No memory passes these filters. <a href=${href("memories")}>Take them off</a>.`
      : html`Nothing is stored here yet. <a href=${href("memories", "", { add: "1" })}>Add a memory</a>, or run <code>concord import</code> with your notes or chats.`);
  return html`${got.isSearch ? summary(got, query) : nothing} ${got.results.map(result)}`;
}

/** The lines that an agent gets beside results: how sure it may be, why, and what to do.
 * @param {any} got @param {string} query */
function summary(got, query) {
  return html`<section class="card" aria-label="How sure this is">
    <p>${bandBadge(got.confidence)} <strong>${word(got.nextAction, "NEXT_ACTION")}</strong></p>
    ${(got.stacLines ?? []).map((/** @type {string} */ line) => html`<p class="words">${line}</p>`)}
    ${(got.times ?? []).map((/** @type {any} */ each) => html`<p class="quiet">“${each.phrase}” is read as ${time(each.since)} to ${time(each.before)}: ${word(each.use, "TIME_USE")}.</p>`)}
    <div class="row">${copies(`concord search ${quoted(query)}`, got)}</div>
  </section>`;
}

/** @param {any} found */
function result(found) {
  const memory = found.memory ?? {};
  const replaced = memory.supersession?.isSuperseded;
  return html`<article class="card" data-row>
    <div class="meta"><a href=${href("memory", memory.id)}><bdi>${memory.id}</bdi></a> ${bandBadge(found.confidence)} ${healthBadge(memory.health)}
      ${badge(memory.edgeType === "EDGE_TYPE_CONSTITUTIVE" ? "constitutive" : "", "warn")} ${replaced ? badge("replaced", "bad") : nothing} ${claimBadges(memory)}
      ${(found.potentialConflicts ?? []).map((/** @type {any} */ each) => html`<a class="badge dashed" href=${href("conflicts", each.conflictId)}>Review conflict?</a>`)}</div>
    ${words(memory.content)}
    <div class="meta">
      <span>${word(memory.kind, "MEMORY_KIND")}</span>
      <span>${time(memory.validFrom ?? memory.createTime)}</span>
      ${memory.sessionId ? html`<a href=${href("memories", "", { session: memory.sessionId })}>session <bdi>${memory.sessionId}</bdi></a>` : nothing}
      <span dir="auto">${found.provenance || word(memory.origin, "ORIGIN")}</span>
      ${replaced ? html`<span>now: ${(memory.supersession.headIds ?? []).map((/** @type {string} */ id) => item(id))}</span>` : nothing}
    </div>
    ${found.explanation ? explanation(found) : nothing}
  </article>`;
}

/** @param {any} found */
function explanation(found) {
  const { relevanceReason, signals = [] } = found.explanation;
  return html`<details><summary>${relevanceReason || "Why it is here"} <span class="quiet">(${Number(found.compositeScore ?? 0).toFixed(3)})</span></summary>
    <div class="bars">${signals.filter((/** @type {any} */ each) => each.contribution).map((/** @type {any} */ each) => html`<span>${word(each.signalName)}</span>
      <meter min="0" max="1" .value=${each.score ?? 0} aria-label=${`${word(each.signalName)} ${Number(each.score ?? 0).toFixed(2)}`}></meter>
      <span>${Number(each.contribution ?? 0).toFixed(3)}: ${each.reason}</span>`)}</div></details>`;
}
