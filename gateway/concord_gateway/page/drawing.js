/** Draws edges around a node with sigma, in circles by their distance. */

const LIBRARIES = ["graphology/graphology.umd.min.js", "sigma/sigma.min.js"];

/** @type {any} */
let shown = null;
/** Where nodes stand, so that they stay there while the times that are looked at move.
 * @type {Map<string, {x: number, y: number}>} */
let places = new Map();
let centre = "";

/** Frees the drawing's memory. */
export function release() {
  shown?.kill();
  shown = null;
}

/** A number of a text, the same each time. @param {string} text */
function hashed(text) {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}

/** @param {HTMLElement} canvas @param {string} around @param {any[]} edges @param {(name: string) => void} onNode
 * @returns {Promise<string | null>} why nothing is drawn */
export async function draw(canvas, around, edges, onNode) {
  const tried = document.createElement("canvas").getContext("webgl2");
  if (!tried) return "This browser has no WebGL.";
  tried.getExtension("WEBGL_lose_context")?.loseContext();
  try {
    await Promise.all(LIBRARIES.map((file) => import(`./vendor/${file}`)));
  } catch (error) {
    return String(error);
  }
  release();
  const { graphology, Sigma } = /** @type {any} */ (globalThis);
  const graph = new graphology.MultiDirectedGraph();
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  place(around, edges);
  const name = (/** @type {any} */ end) => end.name || end.id;
  for (const edge of edges)
    for (const end of [edge.source, edge.target])
      if (!graph.hasNode(name(end)))
        graph.addNode(name(end), { ...places.get(name(end)), label: name(end), size: name(end) === around ? 9 : 5, color: colour(name(end) === around ? "accent" : "quiet") });
  for (const edge of edges)
    graph.addEdge(name(edge.source), name(edge.target), {
      label: edge.relation, size: 1.5,
      color: colour(edge.edgeType === "EDGE_TYPE_CONSTITUTIVE" || edge.relation === "CONTRADICTS" ? "bad" : edge.conflictIds?.length ? "warn" : "quiet"),
    });
  try {
    shown = new Sigma(graph, canvas, { labelColor: { color: colour("ink") }, edgeLabelColor: { color: colour("quiet") }, renderEdgeLabels: edges.length < 60, defaultEdgeType: "arrow", labelRenderedSizeThreshold: 4 });
  } catch (error) {
    return String(error);
  }
  shown.on("clickNode", (/** @type {{node: string}} */ { node }) => onNode(node));
  return null;
}

/** Gives each node a place: its distance is its circle, its parent's angle and its name the rest.
 * @param {string} around @param {any[]} edges */
function place(around, edges) {
  if (centre !== around) places = new Map();
  centre = around;
  const name = (/** @type {any} */ end) => end.name || end.id;
  /** @type {Map<string, string[]>} */
  const near = new Map();
  for (const { source, target } of edges)
    for (const [one, other] of [[name(source), name(target)], [name(target), name(source)]]) {
      if (!near.has(one)) near.set(one, []);
      /** @type {string[]} */ (near.get(one)).push(other);
    }
  places.set(around, { x: 0, y: 0 });
  const first = near.has(around) ? around : near.keys().next().value ?? around;
  const met = new Set([first]);
  for (let ring = [{ node: first, from: 0, to: 2 * Math.PI }], radius = 1; ring.length > 0; radius++) {
    /** @type {typeof ring} */
    const next = [];
    for (const { node, from, to } of ring) {
      const inner = (near.get(node) ?? []).filter((each) => !met.has(each) && met.add(each)).sort((a, b) => hashed(a) - hashed(b));
      inner.forEach((each, at) => {
        const step = (to - from) / inner.length, angle = from + step * (at + 0.5);
        if (!places.has(each)) places.set(each, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
        next.push({ node: each, from: from + step * at, to: from + step * (at + 1) });
      });
    }
    ring = next;
  }
  for (const each of near.keys()) if (!places.has(each)) places.set(each, { x: hashed(each) * 4 - 2, y: hashed(`${each}.`) * 4 - 2 });
}
