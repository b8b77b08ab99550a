/** Proposals: what will change, the exact bytes, and both decisions side by side. */

import { askAgain, changedSince } from "../base.js";
import { mayChange, own } from "../access.js";
import { asked, named, standing, wordsOf } from "../action.js";
import { again, call, change, joined } from "../calls.js";
import { press, reach, setKeys } from "../keys.js";
import { announce, ask, badge, choice, copies, difference, empty, html, item, kindOf, left, nothing, refusal, time, word, words } from "../parts.js";
import { enrolled, signerOf } from "../principals.js";
import { consent, rejection, revisionOf, signed } from "../signing.js";
import { render } from "../vendor/lit-html/lit-html.js";
import { href } from "../state.js";

const STATUSES = ["PENDING", "PENDING_REVIEW", "APPROVED", "EXECUTED", "REJECTED", "WITHDRAWN", "EXPIRED", "FAILED", "UNDONE"];
const SERVICE = "governance.ProposalService";

/** @param {import("./view.js").Opened} opened */
export const open = (opened) => (opened.id ? one(opened) : list(opened));

/** @param {import("./view.js").Opened} opened */
function list({ params, signal, update }) {
  /** @type {any} */
  let got = null;
  /** @type {unknown} */
  let failed = null;
  const status = params.get("status") ?? "";

  async function load(pageToken = "") {
    try {
      const read = (/** @type {string} */ token) => call(`${SERVICE}/ListProposals`, { pageSize: 50, pageToken: token, withSummaries: true, ...(status && { statuses: [`PROPOSAL_STATUS_${status}`] }) }, signal);
      got = pageToken ? joined(got, await read(pageToken), "proposals") : await again(read, "proposals", got?.proposals?.length ?? 0);
    } catch (error) {
      failed = error;
    }
    update();
  }

  return {
    load: () => load(),
    draw: () => html`<h1>Proposals</h1>
      <div class="row">${choice(params, "status", "Status", STATUSES)}</div>
      ${refusal(failed)}
      ${!got ? nothing : (got.proposals ?? []).length === 0 ? empty(html`No proposal is here. What is constitutive changes by a proposal: <code>concord propose</code>.`)
        : html`<table class="folds"><thead><tr><th>Proposal</th><th>What changes</th><th>By</th><th>Status</th><th>Ends</th></tr></thead><tbody>
        ${got.proposals.map((/** @type {any} */ each) => html`<tr data-row><td class="short"><a href=${href("proposals", each.id)}>${each.number} ${word(each.kind, "PROPOSAL_KIND")}</a></td><td data-name="Changes">${words(each.summary)}</td>
          <td data-name="By"><bdi>${each.proposer}</bdi></td><td data-name="Status">${badge(word(each.status, "PROPOSAL_STATUS"))}</td><td data-name="Ends">${each.status.includes("PENDING") ? left(each.expireTime) : nothing}</td></tr>`)}</tbody></table>`}
      ${got?.nextPageToken ? html`<button @click=${() => load(got.nextPageToken)}>More</button>` : nothing}`,
  };
}

/** @param {import("./view.js").Opened} opened */
function one({ id, signal, update }) {
  /** @type {any} */
  let proposal = null;
  /** @type {{text: string, digest: string} | null} */
  let shown = null;
  /** @type {any} */
  let signer = { slot: "", principal: "", pair: null, counts: false };
  /** @type {unknown} */
  let failed = null;
  /** What was refused last: it stays until something is done again. @type {unknown} */
  let refused = null;
  /** @type {string | null} */
  let changedFrom = null;
  /** @type {import("../base.js").Changed[]} */
  let stale = [];
  /** What the action is about, as it stands now. @type {Record<string, any>} */
  let now = {};
  let isMissing = false;

  async function load() {
    try {
      const reply = await call(`${SERVICE}/GetProposal`, /^\d+$/.test(id) ? { number: id } : { id }, signal);
      const next = reply.proposal ?? null;
      const read = next && (await revisionOf(next));
      failed = null;
      if (shown && read && read.digest !== shown.digest) changedFrom = shown.text;
      [proposal, shown, isMissing] = [next, read, !next];
      if (read) now = await standing(JSON.parse(read.text).affected, signal);
      [signer, stale] = await Promise.all([signerOf(), next?.status === "PROPOSAL_STATUS_PENDING" && read ? changedSince(JSON.parse(read.text), signal) : []]);
    } catch (error) {
      failed = error;
    }
    update();
  }

  /** @param {() => Promise<any>} act @param {string} did */
  const doing = async (act, did) => {
    try {
      refused = null;
      if ((await act()) !== null) announce(did);
    } catch (error) {
      refused = error;
    }
    await load();
  };

  /** Signs what is on the screen; if the proposal, or what it is about, changed meanwhile, that is shown instead. */
  const unchanged = async () => {
    const [before, base] = [shown?.digest, JSON.stringify(stale)];
    await load();
    if (failed || (shown?.digest === before && JSON.stringify(stale) === base)) return !failed;
    announce("It changed while it was open. Read the difference first.");
    return false;
  };

  const act = {
    approve: async () => {
      if (!shown || !(await unchanged())) return;
      const statement = await consent(shown, signer.slot, signer.principal);
      await doing(async () => change(`${SERVICE}/ApproveProposal`, { proposalId: proposal.id, consent: await signed(signer.pair, "consent", statement) }), "Signed.");
    },
    reject: async () => {
      const said = await ask({ title: "Reject this proposal", fields: [{ name: "reason", label: "Why", type: "textarea", required: true }], yes: "Reject" }, render);
      if (!said || !shown || !(await unchanged())) return;
      const statement = rejection(shown, signer.slot, signer.principal, said.reason);
      await doing(async () => change(`${SERVICE}/RejectProposal`, { proposalId: proposal.id, rejection: await signed(signer.pair, "rejection", statement) }), "Rejected.");
    },
    paste: async (/** @type {"approve" | "reject"} */ which) => {
      const said = await ask({ title: `Paste a signed ${which === "approve" ? "consent" : "rejection"}`, text: html`<p>The DSSE envelope, as JSON, of a statement that SIGNING.md describes.</p>`,
        fields: [{ name: "envelope", label: "Envelope", type: "textarea", required: true }], yes: "Send it" }, render);
      if (!said) return;
      const envelope = btoa(String.fromCharCode(...new TextEncoder().encode(said.envelope)));
      await doing(() => which === "approve" ? change(`${SERVICE}/ApproveProposal`, { proposalId: proposal.id, consent: envelope }) : change(`${SERVICE}/RejectProposal`, { proposalId: proposal.id, rejection: envelope }), "Sent.");
    },
    withdraw: () => doing(() => change(`${SERVICE}/WithdrawProposal`, { proposalId: proposal.id }), "Withdrawn."),
    undo: () => doing(async () => {
      const { proposal: made } = await change(`${SERVICE}/UndoModification`, { proposalId: proposal.id });
      location.hash = href("proposals", made.id);
    }, "The undo is proposed; it takes the same consents."),
    again: () => doing(async () => {
      const made = await askAgain(proposal, JSON.parse(/** @type {any} */ (shown).text), stale, proposal.proposer === own.principal);
      location.hash = href("proposals", made.id);
    }, "It is asked again, of what holds now."),
    enrol: () => doing(async () => {
      const made = await enrolled(signer);
      if (made) location.hash = href("proposals", made.id);
      return made;
    }, "Proposed."),
  };

  setKeys([
    { key: "b", does: "show the exact bytes", act: () => document.querySelector("details.bytes")?.toggleAttribute("open") },
    { key: "a", does: "go to the button that approves", act: reach("approve") }, { key: "r", does: "go to the button that rejects", act: reach("reject") },
    { key: "c", does: "copy the CLI command", act: press("copy") },
  ]);
  return {
    load,
    draw: () => html`<p><a href=${href("proposals")}>Proposals</a></p>${refusal(failed)} ${refusal(refused)}
      ${isMissing ? html`<h1>Proposal <bdi>${id}</bdi></h1>${empty("There is no such proposal in this space.")}` : nothing}
      ${!proposal || !shown ? (failed || isMissing ? nothing : html`<p class="quiet">Loading…</p>`) : whole(proposal, JSON.parse(shown.text), shown, { changedFrom, stale, signer, act, now })}`,
  };
}

/** @param {any} proposal @param {any} said what the signed bytes say @param {{text: string, digest: string}} shown @param {{changedFrom: string | null, stale: import("../base.js").Changed[], signer: any, act: any, now: Record<string, any>}} beside */
function whole(proposal, said, shown, { changedFrom, stale, signer, act, now }) {
  const framing = said.framing ?? {};
  const [name, request] = named(said.action);
  const parts = /** @type {const} */ ([["detected", "What was found"], ["affected", "What is affected"], ["if_approved", "If it is approved"], ["if_rejected", "If it is rejected"]]);
  return html`<h1>Proposal ${proposal.number}: ${word(proposal.kind, "PROPOSAL_KIND")}</h1>
    <div class="meta">${badge(word(proposal.status, "PROPOSAL_STATUS"))} ${badge(word(proposal.approvalLevel, "APPROVAL_LEVEL") === "bilateral" ? "takes both" : "takes the agent")} ${proposal.irreversible ? badge("cannot be undone", "bad") : nothing}
      <span>revision ${proposal.revision}, by <bdi>${proposal.proposer}</bdi>, ${time(proposal.createTime)}</span> ${proposal.status.includes("PENDING") ? html`<span>ends ${left(proposal.expireTime)}</span>` : nothing}</div>
    ${changedFrom ? html`<section class="error" role="alert"><p>It changed while it was open. The difference of the two bytes:</p>${difference(changedFrom, shown.text)}</section>` : nothing}
    ${stale.length ? outdated(stale, act) : nothing}
    ${parts.map(([name, title]) => framing[name] ? html`<h3>${title}</h3>${words(framing[name])}` : nothing)}
    <h2>What is asked for</h2>
    <section class="card" aria-label="What is asked for"><strong>${name}</strong>${asked(request, now)}</section>
    <h2>What will change</h2>
    ${said.affected.length === 0 ? html`<p class="quiet">No item that exists: something is added.</p>` : said.affected.map((/** @type {any} */ each) => html`<article class="card"><div class="meta">${item(each.id, kindOf(each.kind))} ${each.needs_consent ? badge("needs both", "warn") : nothing} ${each.pinned ? badge("depends on a consent", "warn") : nothing}</div>
      ${each.statement_after === undefined ? words(each.statement) : difference(each.statement ?? "", each.statement_after)}
      ${each.etag && each.statement === undefined && now[each.id] ? html`<p class="quiet">It now says, by the server:</p>${words(wordsOf(now[each.id]))}` : nothing}</article>`)}
    ${Number(said.cascaded_count) ? html`<p>It cascades to ${said.cascaded_count} other items.</p>` : nothing}
    <details class="bytes"><summary>The exact bytes that are signed (b): SHA-256 <span class="mono">${shown.digest}</span></summary><pre>${shown.text}</pre></details>
    ${(proposal.consents ?? []).length ? html`<h2>Consents</h2><ul>${proposal.consents.map((/** @type {any} */ each) => html`<li>${word(each.slot, "SLOT")}: <bdi>${each.principal}</bdi>, ${time(each.receiveTime)} ${each.revoked ? badge("revoked", "bad") : nothing}</li>`)}</ul>` : nothing}
    ${proposal.resolution ? html`<p>${word(proposal.status, "PROPOSAL_STATUS")}: <q>${proposal.resolution}</q>, ${(proposal.resolvedBy ?? []).join(", ")} ${time(proposal.resolveTime)}</p>` : nothing}
    ${decisions(proposal, signer, act)}
    ${said.note ? html`<h3>The proposer's note</h3><blockquote>${words(said.note)}</blockquote>` : nothing}`;
}

/** What it is about is no longer what it was made on: approved as it is, it would change nothing.
 * @param {import("../base.js").Changed[]} stale @param {any} act */
const outdated = (stale, act) => html`<section class="error" role="alert" aria-label="A stale base"><p>What this is about has changed since it was proposed. Approved as it stands, it would fail and change nothing.</p>
  ${stale.map((each) => html`<div class="meta">${item(each.id)} ${each.now ? nothing : badge("gone", "bad")}</div>${each.before && each.after ? html`<p class="quiet">From what it was made on to what holds now:</p>${difference(each.before, each.after)}` : nothing}`)}
  ${mayChange(`${SERVICE}/CreateProposal`) && stale.every((each) => each.now) ? html`<div class="row"><button @click=${act.again}>Ask again, of what holds now</button></div>` : nothing}</section>`;

/** @param {any} proposal @param {any} signer @param {any} act */
function decisions(proposal, signer, act) {
  const pending = proposal.status === "PROPOSAL_STATUS_PENDING";
  if (proposal.status === "PROPOSAL_STATUS_EXECUTED" && proposal.undoUntil && !proposal.undoneBy && mayChange(`${SERVICE}/UndoModification`))
    return html`<div class="row"><button @click=${act.undo}>Propose its undo</button><span class="quiet">possible until ${time(proposal.undoUntil)}</span></div>`;
  if (!pending) return html`<div class="row">${copies(`concord review ${proposal.number}`, proposal)}</div>`;
  const may = mayChange(`${SERVICE}/ApproveProposal`);
  const slot = signer.slot.toLowerCase();
  return html`<h2>Your decision</h2>
    ${may && signer.counts ? html`<p>Both are signed with this browser's key, as ${slot} <bdi>${signer.principal}</bdi>.</p><div class="row"><button data-key="approve" @click=${act.approve}>Approve</button><button data-key="reject" @click=${act.reject}>Reject…</button></div>` : nothing}
    ${may && !signer.counts ? html`<p>This browser's key signs nothing here${signer.slot ? html`: sign with <code>concord approve ${proposal.number} --as ${slot}</code>, or <button class="small" @click=${act.enrol}>let this browser sign…</button>` : ": you have no slot in this space"}</p>
      <div class="row"><button data-key="approve" @click=${() => act.paste("approve")}>Paste a consent…</button><button data-key="reject" @click=${() => act.paste("reject")}>Paste a rejection…</button></div>` : nothing}
    <div class="row">${proposal.proposer === own.principal && mayChange(`${SERVICE}/WithdrawProposal`) ? html`<button @click=${act.withdraw}>Withdraw</button>` : nothing} ${copies(`concord review ${proposal.number}`, proposal)}</div>`;
}
