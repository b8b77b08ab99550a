/** Draws edges with sigma: nodes stand in circles by their distance from one, or over a disc. */

const LIBRARIES = ["graphology/graphology.umd.min.js", "sigma/sigma.min.js"];
const MANY = 2000;
/** Pixels of a dash with its gap. */
const DASH = 10;

/** @typedef {{edges: any[], conflicts: any[]}} Drawn open conflicts of which both sides are drawn
 * @typedef {Map<string, {x: number, y: number}>} Places */

/** @type {any} */
let shown = null;
/** Where nodes stand, so that they stay there while the times that are looked at move.
 * @type {Places} */
let places = new Map();
let centre = "";

/** Frees the drawing's memory. */
export function release() {
  shown?.kill();
  shown = null;
}

/** The name of an edge's end in the address and in the drawing. @param {any} end */
export const nameOf = (end) => end.name || `memory:${end.id}`;

/** A number of a text, the same each time. @param {string} text */
function hashed(text) {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}

/** @param {HTMLElement} canvas @param {string} around @param {Drawn} drawn @param {(name: string) => void} onNode
 * @returns {Promise<string | null>} why nothing is drawn */
export async function draw(canvas, around, drawn, onNode) {
  const tried = document.createElement("canvas").getContext("webgl2");
  if (!tried) return "This browser has no WebGL.";
  tried.getExtension("WEBGL_lose_context")?.loseContext();
  try {
    await Promise.all(LIBRARIES.map((file) => import(`./vendor/${file}`)));
  } catch (error) {
    return String(error);
  }
  if (!canvas.isConnected) return null; // the view was left meanwhile
  const began = performance.now();
  const looked = centre === around ? shown?.getCamera().getState() : null;
  release();
  const { Sigma } = /** @type {any} */ (globalThis);
  const colour = colours();
  try {
    shown = new Sigma(graphOf(around, drawn, colour), canvas, {
      labelColor: { color: colour("ink") }, edgeLabelColor: { color: colour("quiet") },
      renderEdgeLabels: drawn.edges.length < 60, labelRenderedSizeThreshold: 4, minEdgeThickness: 1,
      defaultEdgeType: drawn.edges.length > MANY ? "line" : "arrow", edgeProgramClasses: { dashed: dashedProgram(Sigma) },
    });
  } catch (error) {
    return String(error);
  }
  if (looked) shown.getCamera().setState(looked);
  shown.on("clickNode", (/** @type {{node: string}} */ { node }) => onNode(node));
  // The second frame begins once the first was taken over: then it can be seen.
  requestAnimationFrame(() => requestAnimationFrame(() => performance.measure("drawn", { start: began })));
  return null;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  return (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
}

/** @param {string} around @param {Drawn} drawn @param {(name: string) => string} colour */
function graphOf(around, { edges, conflicts }, colour) {
  const { graphology } = /** @type {any} */ (globalThis);
  const graph = new graphology.MultiDirectedGraph();
  const pairs = edges.map(({ source, target }) => [nameOf(source), nameOf(target)]);
  const between = conflicts.filter(({ first, second }) => first.kind === "ITEM_KIND_MEMORY" && second.kind === "ITEM_KIND_MEMORY")
    .map((each) => ({ ...each, pair: [nameOf({ id: each.first.id }), nameOf({ id: each.second.id })] }));
  const near = neighbours([...pairs, ...between.map(({ pair }) => pair)]);
  if (centre !== around) places = new Map();
  centre = around;
  place(around, near, places);
  const many = edges.length > MANY;
  for (const [name, others] of near)
    graph.addNode(name, {
      ...places.get(name), label: name.slice(0, 60), color: colour(name === around ? "accent" : "quiet"),
      size: name === around ? 9 : many ? Math.min(1 + Math.sqrt(others.length) / 2, 10) : 5,
    });
  const disagreeing = stateOfSides(conflicts);
  edges.forEach((edge, at) => graph.addEdge(...pairs[at], { label: edge.relation, ...looks(edge, disagreeing.get(edge.id), many, colour) }));
  for (const { pair, state } of between) {
    if (state === "CONFLICT_STATE_POTENTIAL") graph.addEdge(...pair, { type: "dashed", label: "Review conflict?", size: 2, color: colour("warn") });
  }
  return graph;
}

/** By the id of an item, the state of its open conflict; a confirmed one goes first. @param {any[]} conflicts */
function stateOfSides(conflicts) {
  const states = new Map();
  for (const { first, second, state } of conflicts)
    for (const { id } of [first, second]) if (states.get(id) !== "CONFLICT_STATE_CONFIRMED") states.set(id, state);
  return states;
}

/** Solid is what holds and what is confirmed; dashed what waits for a review.
 * @param {any} edge @param {string | undefined} state @param {boolean} many @param {(name: string) => string} colour */
function looks(edge, state, many, colour) {
  if (state === "CONFLICT_STATE_POTENTIAL" || (!state && edge.conflictIds?.length)) return { type: "dashed", size: 2, color: colour("warn") };
  if (state || edge.relation === "CONTRADICTS") return { size: 2, color: colour("bad") };
  if (edge.edgeType === "EDGE_TYPE_CONSTITUTIVE") return { size: 3.5, color: colour("accent") };
  return { size: many ? 0.5 : 1.5, color: colour(many ? "line" : "quiet") };
}

/** @type {any} */
let dashed = null;
/** sigma's rectangles, of which nothing is drawn where a gap is. @param {any} Sigma */
function dashedProgram(Sigma) {
  dashed ??= class extends Sigma.rendering.EdgeRectangleProgram {
    getDefinition() {
      const { VERTEX_SHADER_SOURCE: vertex, FRAGMENT_SHADER_SOURCE: fragment, ...rest } = super.getDefinition();
      const along = `a_positionCoef * length(a_positionEnd - a_positionStart) / (u_correctionRatio * u_zoomRatio * ${DASH}.0)`;
      return {
        ...rest,
        VERTEX_SHADER_SOURCE: vertex.replace("void main() {", `varying float v_along;\nvoid main() {\n  v_along = ${along};`),
        FRAGMENT_SHADER_SOURCE: fragment.replace("void main(void) {", "varying float v_along;\nvoid main(void) {\n  if (fract(v_along) > 0.6) discard;"),
      };
    }
  };
  return dashed;
}

/** What each node is connected with. @param {string[][]} pairs */
function neighbours(pairs) {
  /** @type {Map<string, string[]>} */
  const near = new Map();
  for (const [source, target] of pairs)
    for (const [one, other] of [[source, target], [target, source]]) {
      const others = near.get(one);
      if (others) others.push(other);
      else near.set(one, [other]);
    }
  return near;
}

/** Gives each node a place that depends on nothing but names and edges: its distance is its ring, and
 * it has a share of its parent's angle by how many nodes come after it. A ring of many nodes is broad.
 * @param {string} around @param {Map<string, string[]>} near @param {Places} at nodes that are there stay */
function place(around, near, at) {
  const { rings, children } = tree(around, near);
  /** @type {Map<string, number>} */
  const weights = new Map();
  for (const ring of rings.toReversed())
    for (const name of ring) weights.set(name, (children.get(name) ?? []).reduce((sum, each) => sum + (weights.get(each) ?? 0), 1));
  /** @type {Map<string, [number, number]>} */
  const sectors = new Map(rings[0].map((name) => [name, [0, 2 * Math.PI]]));
  let inner = 0;
  rings.forEach((ring, distance) => {
    const even = Math.sqrt(inner ** 2 + ring.length / 8);
    const outer = distance ? Math.max(inner + 1, even) : 0;
    for (const name of ring) {
      const [from, to] = /** @type {[number, number]} */ (sectors.get(name));
      const radius = outer > inner + 1 ? Math.sqrt(inner ** 2 + (outer ** 2 - inner ** 2) * hashed(name)) : outer;
      if (!at.has(name)) at.set(name, { x: radius * Math.cos((from + to) / 2), y: radius * Math.sin((from + to) / 2) });
      let angle = from;
      for (const each of children.get(name) ?? []) {
        const share = ((to - from) * (weights.get(each) ?? 1)) / Math.max((weights.get(name) ?? 2) - 1, 1);
        sectors.set(each, [angle, (angle += share)]);
      }
    }
    inner = outer;
  });
}

/** The nodes by their distance, each under the one that it was met from. What does not hang together with
 * the rest stands around an empty centre.
 * @param {string} around @param {Map<string, string[]>} near */
function tree(around, near) {
  /** @type {Map<string, string[]>} */
  const children = new Map();
  const met = new Set();
  /** @param {string} start */
  const grow = (start) => {
    met.add(start);
    const found = [[start]];
    for (let ring = found[0]; ring.length > 0; found.push(ring)) {
      const next = [];
      for (const name of ring) {
        const under = (near.get(name) ?? []).filter((each) => !met.has(each) && met.add(each)).sort((a, b) => hashed(a) - hashed(b));
        children.set(name, under);
        next.push(...under);
      }
      ring = next;
    }
    return found;
  };
  const names = [...near.keys()].sort((a, b) => (near.get(b)?.length ?? 0) - (near.get(a)?.length ?? 0) || hashed(a) - hashed(b));
  const parts = [...(near.has(around) ? [around] : []), ...names].flatMap((name) => (met.has(name) ? [] : [grow(name)]));
  if (parts.length < 2) return { rings: parts[0] ?? [[]], children };
  const rings = [[""]];
  for (const part of parts) part.forEach((ring, distance) => (rings[distance + 1] ??= []).push(...ring));
  children.set("", parts.map(([[start]]) => start));
  return { rings, children };
}
