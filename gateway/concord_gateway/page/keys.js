/** Keys: letters act on the view, j and k move over its rows. Each view adds its own. */

import { announce } from "./parts.js";

/** @typedef {{key: string, does: string, act: () => void}} Key */

/** @type {Key[]} */
let ofView = [];
/** @param {Key[]} keys what letters do in the view that is shown */
export const setKeys = (keys) => (ofView = keys);

/** @type {Key[]} */
const everywhere = [];
/** @param {Key[]} keys */
export const setGlobalKeys = (keys) => everywhere.splice(0, everywhere.length, ...keys);

/** @returns {Key[]} all keys that do something now */
export const allKeys = () => [
  ...everywhere,
  { key: "j", does: "next row", act: () => move(1) },
  { key: "k", does: "row before", act: () => move(-1) },
  { key: "Enter", does: "open the row", act: open },
  ...ofView,
];

const rows = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main [data-row]")]);
/** @returns {HTMLElement | undefined} the row that keys act on */
export const currentRow = () => rows().find((each) => each.getAttribute("aria-current") === "true");

/** @param {number} by */
function move(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((each) => each.getAttribute("aria-current") === "true");
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  for (const each of all) each.removeAttribute("aria-current");
  next.setAttribute("aria-current", "true");
  next.scrollIntoView({ block: "nearest" });
  /** @type {HTMLElement | null} */ (next.querySelector("a, button"))?.focus({ preventScroll: true });
}

function open() {
  /** @type {HTMLElement | null | undefined} */ (currentRow()?.querySelector("a"))?.click();
}

/** The button of a name that a key means: of the row that keys act on, else of no row, else the only one.
 * @param {string} name its `data-key` @returns {HTMLElement | undefined} */
function meant(name) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(`main [data-key="${name}"]`)]);
  const found = all.find((each) => currentRow()?.contains(each)) ?? all.find((each) => !each.closest("[data-row]"));
  if (!found && all.length > 1) announce("Choose a row first, with j and k.");
  return found ?? (all.length === 1 ? all[0] : undefined);
}
/** Presses a button. @param {string} name its `data-key` */
export const press = (name) => () => meant(name)?.click();
/** Goes to a button, for what no single key should do. @param {string} name its `data-key` */
export const reach = (name) => () => meant(name)?.focus();

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const on = /** @type {HTMLElement} */ (event.target);
  if (on.closest("input, textarea, select")) {
    if (event.key === "Escape") on.blur();
    return;
  }
  if (event.key === "Enter" && on.closest("a, button, summary")) return;
  const found = allKeys().find((each) => each.key === event.key);
  if (found) {
    event.preventDefault();
    found.act();
  }
});
