/** The frame of the page: who is signed in, the views, the times that are looked at. */

import { render } from "./vendor/lit-html/lit-html.js";
import { own, recognise } from "./access.js";
import { refusalOf, silent, whenEnded } from "./calls.js";
import { allKeys, setGlobalKeys, setKeys } from "./keys.js";
import { follow, noticesAreOn, switchNotices, waits } from "./live.js";
import { announce, empty, html, nothing, refusal } from "./parts.js";
import { codeOfAddress, secret, signIn, signOut } from "./session.js";
import { go, href, inThePast, place } from "./state.js";

const NO_PAST = "This view has no past: it shows what stands now.";

/** Views by name. `open` gets the place and returns what is shown; it calls `update` when that
 * changed, and stops at the signal's abort. `past`: what it shows of a past, if anything.
 * @type {Record<string, {title: string, tab?: boolean, file: string, past?: string}>} */
const VIEWS = {
  today: { title: "Today", tab: true, file: "./views/today.js", past: NO_PAST },
  memories: { title: "Memories", tab: true, file: "./views/memories.js" },
  memory: { title: "Memory", file: "./views/memory.js" },
  graph: { title: "Graph", tab: true, file: "./views/graph.js" },
  conflicts: { title: "Conflicts", tab: true, file: "./views/conflicts.js" },
  claims: { title: "Claims", tab: true, file: "./views/claims.js", past: NO_PAST },
  proposals: { title: "Proposals", tab: true, file: "./views/proposals.js", past: NO_PAST },
  audit: { title: "Audit", tab: true, file: "./views/audit.js", past: "The log of what was decided has one time: it ends here at what was known then." },
  syntheses: { title: "Syntheses", tab: true, file: "./views/syntheses.js", past: NO_PAST },
  system: { title: "System", tab: true, file: "./views/system.js", past: NO_PAST },
};

const root = /** @type {HTMLElement} */ (document.querySelector("#app"));
/** @type {unknown} */
let signInRefusal = null;
/** Reads again what the view shows. */
let reload = () => {};
/** Draws the frame again, with what the view shows. */
let redraw = () => {};
/** @type {AbortController} */
let leaving = new AbortController();

/** @param {unknown} content */
function frame(content) {
  const { view, id } = place();
  const tab = view === "memory" ? "memories" : view;
  render(
    html`<a class="skip" href="#main" @click=${focusMain}>To the content</a>
      <header class="top">
        <span class="name">Concord</span>
        <nav class="views" aria-label="Views">
          ${Object.entries(VIEWS).map(([name, each]) => each.tab
            ? html`<a href=${href(name)} aria-current=${tab === name ? "page" : nothing}>${each.title}</a>` : nothing)}
        </nav>
        <span class="who">${own.principal} in ${own.space}</span>
        <button class="small" @click=${theme} aria-label="Light or dark" title="Light, dark, or as the system has it">Light</button>
        <button class="small" @click=${notices} aria-pressed=${noticesAreOn() ? "true" : "false"}>Notices</button>
        <button class="small" @click=${keys} aria-keyshortcuts="?">Keys</button>
        <button class="small" @click=${leave}>Sign out</button>
      </header>
      ${times()}
      <main id="main" tabindex="-1" aria-label=${`${VIEWS[view]?.title ?? view} ${id}`.trim()}>${content}</main>
      <div class="said" role="status" aria-live="polite"></div>`,
    root,
  );
}

/** The two times that every view reads at. */
function times() {
  const { params, view } = place();
  const set = (/** @type {string} */ name) => (/** @type {Event} */ event) =>
    go({ [name]: /** @type {HTMLInputElement} */ (event.target).value });
  return html`<details class="times ${inThePast() ? "set" : ""}" ?open=${inThePast()}>
    <summary>${inThePast() ? html`<strong>You look at a past: nothing can be changed there.</strong>` : "Look at a past"}</summary>
    <div class="row">
      <label>What held on <input type="datetime-local" .value=${params.get("held") ?? ""} @change=${set("held")}></label>
      <label>as known on <input type="datetime-local" .value=${params.get("known") ?? ""} @change=${set("known")}></label>
      ${inThePast() ? html`<button class="small" @click=${() => go({ held: "", known: "" })}>Back to now</button>` : nothing}
    </div>
    ${inThePast() && VIEWS[view]?.past ? html`<p>${VIEWS[view].past}</p>` : nothing}
  </details>`;
}

/** Loads and shows the view that the address names. */
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const here = leaving;
  const { view, id, params } = place();
  if (!secret()) return signInForm();
  setKeys([]);
  const known = VIEWS[view];
  document.title = `${waits() ? `(${waits()}) ` : ""}${known?.title ?? "Not found"}${id ? ` ${id}` : ""} · Concord`;
  if (!known) return frame(html`<h1>Not found</h1>${empty(html`There is no view “${view}”. <a href=${href("today")}>Go to Today</a>.`)}`);
  try {
    const module = await import(known.file).catch(() => {
      throw silent();
    });
    if (here.signal.aborted) return;
    const update = () => {
      if (!here.signal.aborted) frame(drawn.draw());
    };
    redraw = update;
    const drawn = module.open({ id, params, signal: here.signal, update });
    reload = () => drawn.load?.();
    update();
    document.querySelector("nav.views [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a phone they lie in one row
    await drawn.load?.();
    update();
  } catch (error) {
    [reload, redraw] = [show, () => frame(refusal(error))];
    if (!here.signal.aborted) frame(refusal(error));
  }
}

function signInForm() {
  document.title = "Sign in · Concord";
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    await enter({ key: String(new FormData(form).get("key")).trim() });
  };
  render(
    html`<main id="main">
        <h1>Sign in to Concord</h1>
        <p>Run <code>concord page</code>: it opens this page with a link that is valid once, for a minute.</p>
        <p>Or paste an API key. It is exchanged for a session at once, and not kept in this browser.</p>
        ${refusal(signInRefusal)}
        <form class="stack" @submit=${submit} autocomplete="off">
          <label>API key <input name="key" type="password" required autocomplete="off" spellcheck="false" pattern="ck_[A-Za-z0-9_\\-]{43}" title="ck_ and 43 characters"></label>
          <div class="row"><button>Sign in</button></div>
        </form>
      </main><div class="said" role="status" aria-live="polite"></div>`,
    root,
  );
}

/** @param {{code?: string, key?: string}} by */
async function enter(by) {
  try {
    const reply = await signIn(by);
    signInRefusal = reply.ok ? null : await refusalOf(reply);
    if (reply.ok) await begin();
  } catch (error) {
    signInRefusal = error;
  }
  await show();
}

async function begin() {
  await recognise();
  await look();
}

async function leave() {
  leaving.abort();
  await signOut();
  signInForm();
  announce("Signed out.");
}

function theme() {
  const next = /** @type {Record<string, string>} */ ({ "": "dark", dark: "light", light: "" })[document.documentElement.dataset.theme ?? ""];
  keepTheme(next);
  announce(next ? `${next === "dark" ? "Dark" : "Light"} colours.` : "Colours as the system has them.");
}

/** @param {string} chosen */
function keepTheme(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("concord-theme", chosen);
}

async function notices() {
  const on = await switchNotices();
  redraw();
  announce(on ? "This browser says when more waits." : "No notices.");
}

function keys() {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Keys");
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  render(
    html`<h2>Keys</h2><dl class="fields">${allKeys().map((each) => html`<dt><kbd>${each.key}</kbd></dt><dd>${each.does}</dd>`)}</dl>
      <button @click=${() => dialog.close()}>Close</button>`,
    dialog,
  );
  dialog.showModal();
}

/** @param {Event} event */
function focusMain(event) {
  event.preventDefault();
  /** @type {HTMLElement | null} */ (document.querySelector("#main"))?.focus();
}

setGlobalKeys([
  { key: "?", does: "show these keys", act: keys },
  { key: "/", does: "search", act: () => {
    const field = /** @type {HTMLElement | null} */ (document.querySelector("main input[type=search]"));
    if (field) field.focus();
    else location.hash = href("memories");
  } },
  ...Object.entries(VIEWS).filter(([, each]) => each.tab).map(([name, each], at) => ({
    key: String((at + 1) % 10), does: each.title, act: () => (location.hash = href(name)),
  })),
]);

whenEnded(() => {
  leaving.abort();
  signInForm();
  announce("The session has ended.");
});
const look = follow(() => {
  const isFree = !document.querySelector("dialog[open], main :is(input, textarea, select):focus");
  if (isFree) reload();
  return isFree;
});
addEventListener("hashchange", show);
keepTheme(localStorage.getItem("concord-theme") ?? "");

const code = codeOfAddress();
if (code) await enter({ code });
else {
  if (secret()) await begin().catch((error) => (signInRefusal = error));
  await show();
}
