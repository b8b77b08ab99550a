/** Draws edges with sigma: nodes stand in circles by their distance from one, or over a disc. */

const LIBRARIES = ["graphology/graphology.umd.min.js", "sigma/sigma.min.js"];
const MANY = 2000;
/** Pixels of a dash with its gap. */
const DASH = 14;

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
  const { Drawing, Dashed } = programs();
  const colour = colours();
  try {
    const wide = Math.min(Math.max(canvas.clientWidth / canvas.clientHeight, 0.5), 2.5);
    shown = new Drawing(graphOf(around, drawn, colour, wide), canvas, {
      labelColor: { color: colour("ink") }, edgeLabelColor: { color: colour("quiet") },
      renderEdgeLabels: drawn.edges.length < 60, labelRenderedSizeThreshold: 3, stagePadding: 60, hideEdgesOnMove: drawn.edges.length > MANY,
      defaultEdgeType: drawn.edges.length > MANY ? "line" : "arrow", edgeProgramClasses: { dashed: Dashed, curved: Sigma.rendering.EdgeCurveProgram },
      defaultDrawNodeHover: hovered(colour),
    });
  } catch (error) {
    return String(error);
  }
  if (around) {
    const far = Math.max(1, ...shown.getGraph().mapNodes((/** @type {string} */ _, /** @type {any} */ { x, y }) => Math.hypot(x, y)));
    shown.setCustomBBox({ x: [-far, far], y: [-far, far] }); // the node in the middle
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

/** The name of the node that is pointed at, in the page's colours: sigma's own ground is always white.
 * @param {(name: string) => string} colour */
const hovered = (colour) => (/** @type {CanvasRenderingContext2D} */ context, /** @type {any} */ { x, y, size, label }, /** @type {any} */ { labelFont, labelSize }) => {
  context.font = `${labelSize}px ${labelFont}`;
  const width = context.measureText(label).width + size + 10, height = labelSize + 8;
  context.fillStyle = colour("card");
  context.strokeStyle = colour("quiet");
  context.beginPath();
  context.roundRect(x - size - 3, y - height / 2, width + size + 3, height, 4);
  context.fill();
  context.stroke();
  context.fillStyle = colour("accent");
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = colour("ink");
  context.fillText(label, x + size + 4, y + labelSize / 3);
};

/** @param {string} around @param {Drawn} drawn @param {(name: string) => string} colour @param {number} wide how much wider than high a whole space is */
function graphOf(around, { edges, conflicts }, colour, wide) {
  const { graphology } = /** @type {any} */ (globalThis);
  const graph = new graphology.MultiDirectedGraph();
  const pairs = edges.map(({ source, target }) => [nameOf(source), nameOf(target)]);
  const between = conflicts.filter(({ first, second }) => first.kind === "ITEM_KIND_MEMORY" && second.kind === "ITEM_KIND_MEMORY")
    .map((each) => ({ ...each, pair: [nameOf({ id: each.first.id }), nameOf({ id: each.second.id })] }));
  const near = neighbours([...pairs, ...between.map(({ pair }) => pair)]);
  if (centre !== around) places = new Map();
  centre = around;
  place(around, near, places, around ? 1 : wide);
  const many = edges.length > MANY;
  for (const [name, others] of near)
    graph.addNode(name, {
      ...places.get(name), label: name.slice(0, 60), color: colour(name === around ? "accent" : "quiet"),
      size: name === around ? 9 : many ? Math.min(0.5 + Math.sqrt(others.length) / 2, 10) : near.size > 60 ? 3.5 : 5,
    });
  const states = stateOfSides(conflicts);
  const keyOf = (/** @type {string[]} */ pair) => pair.toSorted().join("\n");
  const open = new Map(between.map((each) => [keyOf(each.pair), each]));
  edges.forEach((edge, at) => {
    const key = keyOf(pairs[at]), isContradiction = edge.relation === "CONTRADICTS";
    const state = states.get(edge.id) ?? (isContradiction ? open.get(key)?.state : undefined);
    if (isContradiction) open.delete(key);
    const beside = many ? 0 : graph.edges(...pairs[at]).length; // a second edge would lie on the first
    graph.addEdge(...pairs[at], { label: edge.relation, ...(beside && { type: "curved", curvature: 0.6 * beside }), ...looks(edge, state, many, colour) });
  });
  for (const { pair, state } of open.values()) {
    if (state === "CONFLICT_STATE_POTENTIAL") graph.addEdge(...pair, { type: "dashed", label: "Review conflict?", size: 3, color: colour("warn") });
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

/** Solid is what holds and what is confirmed; dashed what waits: for a review, or as a claim.
 * @param {any} edge @param {string | undefined} state @param {boolean} many @param {(name: string) => string} colour */
function looks(edge, state, many, colour) {
  if (state === "CONFLICT_STATE_POTENTIAL" || (!state && (edge.claimed || edge.conflictIds?.length))) return { type: "dashed", size: 3, color: colour("warn") };
  if (state || edge.relation === "CONTRADICTS") return { size: 3, color: colour("bad") };
  if (edge.edgeType === "EDGE_TYPE_CONSTITUTIVE") return { size: 3.5, color: colour("accent") };
  return { size: many ? 0.5 : 1.5, color: colour(many ? "line" : "quiet") };
}

/** @type {any} */
let made = null;
/** What sigma has not. */
function programs() {
  const { Sigma } = /** @type {any} */ (globalThis);
  made ??= {
    /** sigma reads the node at a point back from the drawing, and waits until it is drawn: a second, by software. */
    Drawing: class extends Sigma {
      /** @param {{x: number, y: number}} point */
      getNodeAtPosition({ x, y }) {
        const at = this.viewportToFramedGraph({ x, y }), pixel = Math.abs(this.viewportToFramedGraph({ x: x + 1, y }).x - at.x);
        return this.getGraph().findNode((/** @type {string} */ name) => {
          const node = this.getNodeDisplayData(name);
          return Math.hypot(node.x - at.x, node.y - at.y) <= pixel * Math.max(this.scaleSize(node.size), 3);
        }) ?? null;
      }
      /** After each move sigma reads all nodes and edges again; here they stay as they were. @param {any} [asked] */
      refresh(asked) {
        return super.refresh(asked ?? (this === shown ? { partialGraph: { nodes: [], edges: [] }, skipIndexation: true, schedule: true } : undefined));
      }
    },
    /** sigma's rectangles, of which nothing is drawn where a gap is. */
    Dashed: class extends Sigma.rendering.EdgeRectangleProgram {
      getDefinition() {
        const { VERTEX_SHADER_SOURCE: vertex, FRAGMENT_SHADER_SOURCE: fragment, ...rest } = super.getDefinition();
        const along = `a_positionCoef * length(a_positionEnd - a_positionStart) / (u_correctionRatio * u_zoomRatio * ${DASH}.0)`;
        return {
          ...rest,
          VERTEX_SHADER_SOURCE: vertex.replace("void main() {", `varying float v_along;\nvoid main() {\n  v_along = ${along};`),
          FRAGMENT_SHADER_SOURCE: fragment.replace("void main(void) {", "varying float v_along;\nvoid main(void) {\n  if (fract(v_along) > 0.6) discard;"),
        };
      }
    },
  };
  return made;
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
 * @param {string} around @param {Map<string, string[]>} near @param {Places} at nodes that are there stay
 * @param {number} wide what x is stretched by */
function place(around, near, at, wide) {
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
      if (!at.has(name)) at.set(name, { x: wide * radius * Math.cos((from + to) / 2), y: radius * Math.sin((from + to) / 2) });
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
