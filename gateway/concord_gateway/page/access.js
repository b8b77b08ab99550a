/** Who is signed in, and what the key may do: nothing is offered that would be refused. */

import { call } from "./calls.js";
import { inThePast } from "./state.js";
import PERMISSIONS from "./permissions.js";

/** @type {{space: string, principal: string, kind: string, permissions: string[]}} */
export let own = { space: "", principal: "", kind: "", permissions: [] };

/** Reads whose session this is. */
export async function recognise() {
  own = { permissions: [], ...(await call("governance.AccessService/GetOwnAccess")) };
  return own;
}

/** Whether the key may call a method. @param {string} method */
export const mayCall = (method) => own.permissions.includes(/** @type {Record<string, string>} */ (PERMISSIONS)[method]);

/** Whether a change is offered: the key may make it, and the present is looked at. @param {string} method */
export const mayChange = (method) => mayCall(method) && !inThePast();
