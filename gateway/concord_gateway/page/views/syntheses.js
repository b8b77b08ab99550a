/** Syntheses: what memories say together; what is resolved and how, and what stays open. */

import { mayChange } from "../access.js";
import { stream } from "../calls.js";
import { badge, empty, html, item, nothing, refusal, word, words } from "../parts.js";

const METHOD = "dissonance.DialecticService/Synthesize";

/** @param {import("./view.js").Opened} opened */
export function open({ signal, update }) {
  /** @type {any} */
  let run = null;
  /** @type {unknown} */
  let failed = null;

  const begin = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    run = { percent: 0, stage: "", theses: [], contradictions: [], reviews: [], silent: [], done: null };
    failed = null;
    update();
    try {
      await stream(METHOD, {
        requestId: crypto.randomUUID(), question: String(fields.get("question")), query: String(fields.get("question")),
        queryLimit: Number(fields.get("limit")), review: fields.get("review") === "on",
      }, ({ event: said }) => {
        take(run, said);
        update();
      }, signal);
    } catch (error) {
      failed = error;
    }
    update();
  };

  return {
    draw: () => html`<h1>Syntheses</h1>
      ${mayChange(METHOD) ? html`<form class="stack card" @submit=${begin}>
        <label>Question <input name="question" required maxlength="1000"></label>
        <label>From the memories that a search for it finds, at most <input name="limit" type="number" min="2" max="50" value="10"></label>
        <label><span><input type="checkbox" name="review"> have several models review it</span></label>
        <div class="row"><button>Bring together</button></div></form>` : nothing}
      ${refusal(failed)}
      ${run ? shown(run) : empty(mayChange(METHOD) ? "Ask a question that several memories answer differently: their theses, what contradicts what, and what stays open are shown here." : "This key may not bring memories together, or a past is looked at.")}`,
  };
}

/** @param {any} run @param {any} event */
function take(run, event) {
  if (event.stage) run.stage = word(event.stage, "DIALECTIC_STAGE");
  run.percent = event.percent ?? run.percent;
  if (event.theses) run.theses.push(...(event.theses.theses ?? []));
  if (event.contradiction) run.contradictions.push(event.contradiction);
  if (event.review) run.reviews.push(event.review);
  if (event.failedReviewer) run.silent.push(event.failedReviewer);
  if (event.done) run.done = event.done;
  if (event.failed) run.failure = event.failed;
}

/** @param {any} run */
function shown(run) {
  const made = run.done?.synthesis;
  const theses = made?.theses ?? run.theses;
  const at = (/** @type {number} */ index) => theses.find((/** @type {any} */ each) => (each.index ?? 0) === (index ?? 0));
  return html`${run.done || run.failure ? nothing : html`<p><progress max="100" .value=${run.percent}></progress> ${run.stage}</p>`}
    ${run.failure ? html`<div class="error" role="alert">${run.failure.message}</div>` : nothing}
    ${made ? html`<section class="card"><h2>Together</h2><div class="meta">${badge(made.isComplete ? "complete" : "not complete", made.isComplete ? "good" : "warn")} ${made.degraded ? badge("done with less than asked for", "bad") : nothing}
      <span>confidence ${Number(made.confidence ?? 0).toFixed(2)}</span> <span>${word(made.method, "SYNTHESIS_METHOD")}</span></div>${words(made.text, true)} ${words(made.reasoning)}</section>` : nothing}
    ${run.contradictions.length ? html`<h2>What contradicts what</h2>${run.contradictions.map((/** @type {any} */ each) => html`<article class="card" data-row>
      <div class="meta">${badge(word(each.severity, "CONFLICT_SEVERITY"), "warn")} <span>${word(each.type, "CONFLICT_TYPE")}</span> <span>settled by ${word(each.strategy, "RESOLUTION_STRATEGY") || "nothing: it stays open"}</span></div>
      <div class="sides"><div class="side">${thesis(at(each.thesisA))}</div><div class="side">${thesis(at(each.thesisB))}</div></div>${words(each.description)}</article>`)}` : nothing}
    ${theses.length ? html`<h2>Theses</h2><div class="sides">${theses.map((/** @type {any} */ each) => html`<section class="side" data-row>${thesis(each)}</section>`)}</div>` : nothing}
    ${verdict(run.done?.review)}
    ${run.reviews.length || run.silent.length ? html`<h2>Reviews</h2>${run.silent.map(silent)} ${run.reviews.map(review)}` : nothing}`;
}

/** @param {any} each a reviewer that gave no review */
const silent = (each) => html`<p>${badge("no review", "bad")} <bdi>${each.reviewer?.name}</bdi> (<bdi>${each.reviewer?.model}</bdi>): ${word(each.failure, "REVIEWER_FAILURE")}</p>`;

/** @param {any} each */
const review = (each) => html`<article class="card" data-row><div class="meta"><span><bdi>${each.reviewer?.name}</bdi> (<bdi>${each.reviewer?.model}</bdi>), round ${each.round ?? 1}</span>
    <strong>${points(each.weightedScore)} of 10 by its scores</strong> ${badge(word(each.recommendation, "RECOMMENDATION"))} ${each.contradictsScores ? badge("contradicts its own scores", "bad") : nothing}</div>
  ${words(each.comments)}
  <dl class="fields">${(each.scores ?? []).map((/** @type {any} */ one) => html`<dt>${spaced(one.criterion)}</dt><dd>${points(one.score)} ${one.comment}</dd>`)}
    ${list("Strengths", each.strengths)} ${list("Weaknesses", each.weaknesses)}</dl></article>`;

/** @param {string} name @param {string[]} said */
const list = (name, said = []) => (said.length ? html`<dt>${name}</dt><dd>${said.map((each) => html`<div>${each}</div>`)}</dd>` : nothing);

/** @param {string} criterion */
const spaced = (criterion) => criterion.replaceAll("_", " ");

/** @param {number | undefined} score */
const points = (score) => Number(score ?? 0).toFixed(1);

/** What the reviewers conclude together, where they are apart, and how many of them there were.
 * @param {any} said */
function verdict(said) {
  const now = said?.verdict;
  if (!now) return nothing;
  const missing = (now.expectedCount ?? 0) - (now.succeededCount ?? 0);
  const status = word(now.status, "APPROVAL_STATUS");
  return html`<h2>Verdict of the reviewers</h2><section class="card" aria-label="Verdict of the reviewers"><div class="meta">${badge(status, status === "approved" ? "good" : status === "rejected" ? "bad" : "warn")}
      ${missing ? badge(`${missing} of ${now.expectedCount} gave no review`, "bad") : html`<span>all ${now.expectedCount} reviewed it</span>`}
      <span>agreement ${Number(now.consensusScore ?? 0).toFixed(2)}</span> <span>mean ${points(now.averageScore)} of 10</span> <span>confidence ${Number(now.confidence ?? 0).toFixed(2)}</span></div>
    ${words(said.summary)} ${(said.warnings ?? []).map((/** @type {string} */ each) => html`<p>${badge("attention", "warn")} ${each}</p>`)}
    ${(now.conflicts ?? []).map((/** @type {any} */ each) => html`<div class="sides" data-row>
      <div class="side">${badge(`${points(each.difference)} apart on ${spaced(each.criterion)}`, "warn")} <bdi>${each.reviewerA}</bdi>: ${points(each.scoreA)} ${words(each.commentA)}</div>
      <div class="side"><bdi>${each.reviewerB}</bdi>: ${points(each.scoreB)} ${words(each.commentB)}</div></div>`)}
    ${(now.recommendations ?? []).length ? html`<h3>What to mend</h3><ul>${now.recommendations.map((/** @type {string} */ each) => html`<li>${each}</li>`)}</ul>` : nothing}</section>`;
}

/** @param {any} said */
const thesis = (said) => said ? html`<div class="meta">${said.memoryId ? item(said.memoryId) : html`<bdi>${said.agentSource}</bdi>`} ${said.isKept ? badge("kept", "good") : nothing}</div>${words(said.claim)}` : nothing;
