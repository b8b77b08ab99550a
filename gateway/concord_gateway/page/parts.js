/** What all views show alike: times, links, badges, words, refusals. Everything stored is text. */

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { Refused } from "./calls.js";
import { go, href } from "./state.js";

export { html, nothing };

const SPANS = /** @type {const} */ ([["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3600], ["minute", 60]]);
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** A time as people say it; the exact one on hover.
 * @param {string | undefined} stamp RFC 3339 */
export function time(stamp) {
  if (!stamp) return nothing;
  const date = new Date(stamp);
  if (Number.isNaN(date.getTime())) return stamp;
  const seconds = (date.getTime() - Date.now()) / 1000;
  const [unit, size] = SPANS.find(([, each]) => Math.abs(seconds) >= each) ?? [null, 1];
  const said = unit ? relative.format(Math.round(seconds / size), unit) : "just now";
  return html`<time datetime=${stamp} title=${stamp}>${said}</time>`;
}

/** How long something waits still, in hours as long as these are few; the exact time on hover.
 * @param {string | undefined} stamp RFC 3339 */
export function left(stamp) {
  const hours = stamp ? (new Date(stamp).getTime() - Date.now()) / 3_600_000 : NaN;
  return hours >= 1 && hours < 100 ? html`<time datetime=${stamp} title=${stamp}>in ${Math.floor(hours)} ${Math.floor(hours) === 1 ? "hour" : "hours"}</time>` : time(stamp);
}

/** The day of a time; the exact one on hover. @param {string | undefined} stamp */
export const day = (stamp) => (stamp ? html`<time datetime=${stamp} title=${stamp}>${stamp.slice(0, 10)}</time>` : nothing);

/** A value of an enumeration in words: "MEMORY_KIND_FACT" of "MEMORY_KIND" is "fact".
 * @param {string | undefined} value @param {string} [prefix] */
export function word(value, prefix = "") {
  if (!value || value.endsWith("_UNSPECIFIED")) return "";
  return (prefix ? value.replace(`${prefix}_`, "") : value).replaceAll("_", " ").toLowerCase();
}

/** Stored words, as they are; long ones can be opened. @param {string | undefined} text @param {boolean} [whole] */
export function words(text, whole = false) {
  if (!text) return nothing;
  if (whole || (text.length < 500 && text.split("\n").length < 7)) return html`<p class="words" dir="auto">${text}</p>`;
  const open = (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    const cut = button.previousElementSibling?.classList.toggle("cut");
    button.textContent = cut ? `Show all ${text.length.toLocaleString()} characters` : "Show less";
  };
  return html`<p class="words cut" dir="auto">${text}</p>
    <button class="small bare" @click=${open}>Show all ${text.length.toLocaleString()} characters</button>`;
}

const VIEW_OF = /** @type {Record<string, string>} */ ({ ITEM_KIND_MEMORY: "memory", ITEM_KIND_CONFLICT: "conflicts" });

const KINDS = ["", "NODE", "EDGE", "MEMORY", "GHOST", "EPISODE", "WORKING_MEMORY", "RELATION", "CONFLICT", "CLAIM"];
/** The name of a kind of item that signed bytes name by its number. @param {number} kind */
export const kindOf = (kind) => `ITEM_KIND_${KINDS[kind] ?? ""}`;

/** An item's id, as a link where a view shows it. @param {string | undefined} id @param {string} [kind] */
export function item(id, kind = "ITEM_KIND_MEMORY") {
  if (!id) return nothing;
  const view = VIEW_OF[kind];
  return view ? html`<a href=${href(view, id)}><bdi>${id}</bdi></a>` : html`<bdi class="mono">${id}</bdi>`;
}

/** @param {string} text @param {"" | "good" | "warn" | "bad" | "dashed"} [tone] @param {string} [title] */
export const badge = (text, tone = "", title = "") =>
  text ? html`<span class="badge ${tone}" title=${title || nothing}>${text}</span>` : nothing;

const HEALTH = /** @type {Record<string, "good" | "warn" | "bad" | "">} */ ({ "at risk": "bad", stale: "warn", orphan: "warn", healthy: "good" });
/** @param {{status?: string, reasons?: string[]} | undefined} health */
export function healthBadge(health) {
  const said = word(health?.status, "HEALTH_STATUS");
  return badge(said, HEALTH[said] ?? "", (health?.reasons ?? []).join("; "));
}

const BANDS = /** @type {Record<string, "good" | "warn" | "bad" | "">} */ ({ high: "good", medium: "warn", low: "bad" });
/** @param {string | undefined} band */
export const bandBadge = (band) => badge(word(band, "CONFIDENCE_BAND"), BANDS[word(band, "CONFIDENCE_BAND")] ?? "");

/** What a call refused, with the contract's remedy. @param {unknown} error */
export function refusal(error) {
  if (!error) return nothing;
  if (!(error instanceof Refused)) return html`<div class="error" role="alert">This page failed: ${String(error)}</div>`;
  const more = error.violations.filter((/** @type {any} */ each) => !error.message.startsWith(each.description));
  return html`<div class="error" role="alert">
    <p class="words">${error.message}</p>
    ${more.length > 0 ? html`<ul>${more.map((/** @type {any} */ each) => html`<li><code>${each.field}</code> ${each.description}</li>`)}</ul>` : nothing}
    ${error.reason ? html`<p class="quiet mono">${error.reason}</p>` : nothing}
  </div>`;
}

/** A filter of the address, chosen from some values. @param {URLSearchParams} params @param {string} name @param {string} label
 * @param {string[]} values @param {string} [none] what no choice is called */
export function choice(params, name, label, values, none = "any") {
  const chosen = (/** @type {Event} */ event) => {
    const select = /** @type {HTMLSelectElement} */ (event.target), { value } = select;
    select.value = params.get(name) ?? ""; // until the address says so: what is drawn is what holds
    go({ [name]: value });
  };
  return html`<label>${label} <select @change=${chosen}><option value="" .selected=${!params.get(name)}>${none}</option>
    ${values.map((each) => html`<option value=${each} .selected=${params.get(name) === each}>${word(each)}</option>`)}</select></label>`;
}

/** Nothing is there: what to do next. @param {unknown} said */
export const empty = (said) => html`<div class="empty">${said}</div>`;

/** Buttons that put an item on the clipboard. @param {string} command @param {unknown} json */
export function copies(command, json) {
  const copy = (/** @type {string} */ text) => async (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    await navigator.clipboard.writeText(text);
    announce(`${button.textContent?.replace("Copy", "Copied")}.`);
  };
  return html`<button class="small" data-key="copy" title=${command} @click=${copy(command)}>Copy CLI command</button>
    <button class="small" @click=${copy(JSON.stringify(json, null, 2))}>Copy as JSON</button>`;
}

/** An argument of a command line. @param {string} text */
export const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

/** Says something once, to eyes and to screen readers. @param {string} text */
export function announce(text) {
  const said = document.querySelector(".said");
  if (!said) return;
  said.textContent = text;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => (said.textContent = ""), 6000);
}
/** @type {ReturnType<typeof setTimeout> | undefined} */
announce.timer = undefined;

/** Asks in a dialog; the answer is the form's fields, or null. No button is the default one.
 * @param {{title: string, text?: unknown, fields?: {name: string, label: string, type?: string, value?: string, required?: boolean}[], yes: string, bad?: boolean}} asked
 * @param {(template: unknown, at: HTMLElement) => void} render
 * @returns {Promise<Record<string, string> | null>} */
export function ask({ title, text, fields = [], yes }, render) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", title);
  document.body.append(dialog);
  return new Promise((answer) => {
    const submit = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const said = Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)).entries());
      dialog.close();
      answer(/** @type {Record<string, string>} */ (said));
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(null);
    });
    render(
      html`<h2>${title}</h2>
        ${text ?? nothing}
        <form class="stack" @submit=${submit}>
          ${fields.map((each) => html`<label>${each.label}
            ${each.type === "textarea"
              ? html`<textarea name=${each.name} ?required=${each.required} .value=${each.value ?? ""}></textarea>`
              : html`<input name=${each.name} type=${each.type ?? "text"} ?required=${each.required} .value=${each.value ?? ""}>`}
          </label>`)}
          <div class="row"><button type="submit">${yes}</button><button type="button" @click=${() => dialog.close()}>Leave it</button></div>
        </form>`,
      dialog,
    );
    dialog.showModal();
  });
}

/** What both texts have alike and what only one has, word by word: their beginning and end first, then the longest
 * common sequence of what is between; where that is too much to compare, all of it differs.
 * @param {string[]} old @param {string[]} now @returns {[string, string][]} kinds, " ", "-" or "+", with words */
function compared(old, now) {
  let head = 0, tail = 0;
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const before = old.slice(head, old.length - tail), after = now.slice(head, now.length - tail);
  const tooMuch = before.length * after.length > MOST_COMPARED;
  const longest = tooMuch ? [] : Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0 && !tooMuch; i--)
    for (let j = after.length - 1; j >= 0; j--)
      longest[i][j] = before[i] === after[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  /** @type {[string, string][]} */
  const middle = [];
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    const isSame = !tooMuch && i < before.length && j < after.length && before[i] === after[j];
    if (isSame) middle.push([" ", before[i++] && after[j++]]);
    else if (j >= after.length || (i < before.length && (tooMuch || longest[i + 1][j] >= longest[i][j + 1]))) middle.push(["-", before[i++]]);
    else middle.push(["+", after[j++]]);
  }
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
}
/** @param {string} text @returns {[string, string]} */
const same = (text) => [" ", text];
const MOST_COMPARED = 4_000_000;
/** Words and spaces before and after a difference that are shown; what is further away is counted. */
const AROUND = 80;

/** Two texts with all their differences marked, word by word. @param {string} before @param {string} after */
export function difference(before, after) {
  /** @type {{kind: string, parts: string[]}[]} */
  const runs = [];
  for (const [kind, text] of compared(before.split(/(\s+)/), after.split(/(\s+)/))) {
    if (runs.at(-1)?.kind === kind) runs.at(-1)?.parts.push(text);
    else runs.push({ kind, parts: [text] });
  }
  return html`<p class="words" dir="auto">${runs.map(({ kind, parts }, at) => {
    if (kind === "-") return html`<del>${parts.join("")}</del>`;
    if (kind === "+") return html`<ins>${parts.join("")}</ins>`;
    const first = at ? AROUND : 0, last = at < runs.length - 1 ? AROUND : 0;
    if (runs.length === 1 || parts.length <= first + last + AROUND) return parts.join("");
    return html`${parts.slice(0, first).join("")} <span class="quiet">[… ${((parts.length - first - last) / 2 | 0).toLocaleString()} words that stay …]</span> ${parts.slice(parts.length - last).join("")}`;
  })}</p>`;
}

/** Saves a drawing for graphviz. @param {string} name of the file @param {[string, string][]} nodes ids with labels
 * @param {[string, string, string][]} edges from, to and label */
export function saveDot(name, nodes, edges) {
  const text = (/** @type {string} */ each) => JSON.stringify(each.slice(0, 200));
  const lines = [...nodes.map(([id, label]) => `  ${text(id)} [label=${text(label)}];`), ...edges.map(([from, to, label]) => `  ${text(from)} -> ${text(to)} [label=${text(label)}];`)];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`digraph {\n${lines.join("\n")}\n}\n`], { type: "text/vnd.graphviz" }));
  link.download = `${name}.dot`;
  link.click();
  URL.revokeObjectURL(link.href);
}
