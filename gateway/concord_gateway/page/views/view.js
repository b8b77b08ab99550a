/** @typedef {object} Opened what a view is opened with
 * @property {string} id the item that the address names
 * @property {URLSearchParams} params the filters in the address
 * @property {AbortSignal} signal ends when the view is left
 * @property {() => void} update draws the view anew */
export {};
