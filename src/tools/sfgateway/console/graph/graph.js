// The picture of a machine, drawn from the layout that SQL gives, with the status of each state.

import { s } from '../base/dom.js';
import { count, duration, visible } from '../base/format.js';
import { iconShapes } from '../base/icons.js';
import { JOB, statusWord, toneOf } from '../element/statuses.js';
import { tr } from '../language/texts.js';
import { fitText } from './measure.js';

const SMALL_LINE = 13, NAME_LINE = 15, PAD = 7, SIDE = 5;

/**
 * A box of a picture.
 * @typedef {{ x: number, y: number, w: number, h: number }} Box
 */

/**
 * A state of a picture.
 * @typedef {object} LayoutState
 * @property {number} id
 * @property {string} name
 * @property {string} type
 * @property {number} [parent] the id of the state in which it lies
 * @property {number} corner the radius of its corners
 * @property {string[]} lines of its name
 * @property {string[]} small lines of what it is
 * @property {string} subtitle what it is, as a whole
 */

/**
 * The picture of a machine, as SQL gives it. Lines are drawn along paths of SVG.
 * @typedef {object} Layout
 * @property {number} w
 * @property {number} h
 * @property {(Box & LayoutState)[]} states
 * @property {(Box & { parent: number, job?: string, lines?: string[], small?: string[] })[]} branches
 * @property {{ from?: number, to?: number, from_job?: string, to_job?: string, line: string, head?: string,
 *   catch: boolean }[]} edges from a state or a job of a net, or from the beginning, to one of these, or to the end
 * @property {(Box & { lines: string[], title?: string, catch: boolean })[]} labels
 * @property {(Box & { kind: 'start' | 'end' })[]} ends
 */

/**
 * What an execution did in a state.
 * @typedef {object} StateFacts
 * @property {number} id that of the state
 * @property {string} status
 * @property {string} [name]
 * @property {boolean} [aborted]
 * @property {number} [visits]
 * @property {number} [attempts]
 * @property {number} [ms]
 * @property {number} [iterations] of a Map; of these are succeeded and failed
 * @property {number} [succeeded]
 * @property {number} [failed]
 * @property {string | number} [critical] the job, if it is on the critical path of its net
 * @property {string | number} [critical_after] the job before it there
 */

/**
 * How a picture is drawn.
 * @typedef {object} How
 * @property {string | undefined} chosen the name of the state that is chosen
 * @property {string | undefined} at that of the state that has the focus, or gets it
 * @property {Set<string>} found those that were looked for
 * @property {(name: string, event: Event) => void} pick what a click does
 * @property {number} scale
 */

// Texts below each other, from a point on, in a room.
function lines(list, x, y, height, more, room) {
  return list.map((line, n) => {
    const { text, length } = fitText(visible(line), more, room);
    const squeezed = length && { textLength: length, lengthAdjust: 'spacingAndGlyphs' };
    return s('text', { class: more, x, y: y + (n + 1) * height - 3, ...squeezed }, text);
  });
}

// What an execution did in a state, in a few words; without an execution, what the state is.
function subtitle(state, facts) {
  if (!facts || facts.status === 'entry' || facts.status === 'skip') return state.small;
  const parts = [];
  if (facts.iterations !== undefined)
    parts.push(tr('{0}/{1} items', facts.succeeded, facts.iterations),
      facts.failed ? tr('{0} failed', facts.failed) : null);
  else if (facts.visits > 1) parts.push(count(facts.visits, '{0} visit|{0} visits'));
  else if (facts.attempts > 1) parts.push(count(facts.attempts, '{0} attempt|{0} attempts'));
  if (facts.ms !== undefined && ['Task', 'Wait', 'Parallel', 'Map', 'JobNet'].includes(state.type))
    parts.push(duration(facts.ms));
  const words = parts.filter(Boolean).join(' · ');
  return words ? [words] : state.small;
}

// The critical paths of nets: which jobs are on one, and which come after each other there. A job is the id of its
// state, or the name of a flow of states.
function criticalPaths(states) {
  const key = job => `${typeof job} ${job}`;
  const jobs = new Set(), links = new Set();
  for (const { critical, critical_after: after } of states ?? []) {
    if (critical === undefined) continue;
    jobs.add(key(critical));
    if (after !== undefined) links.add(`${key(after)}>${key(critical)}`);
  }
  return { has: job => jobs.has(key(job)),
    links: edge => links.has(`${key(edge.from_job ?? edge.from)}>${key(edge.to_job ?? edge.to)}`) };
}

// One state: a button. One of all can be reached with the Tab key.
function drawState(state, facts, critical, { chosen, at, found, pick }) {
  const middle = state.x + state.w / 2, room = state.w - 2 * SIDE;
  const isChosen = state.name === chosen;
  const status = facts?.aborted ? 'aborted' : facts?.status ?? 'plain';
  const classes = ['state', status, critical && 'critical', isChosen && 'chosen', found.has(state.name) && 'found'];
  const words = [state.name, state.type, facts && statusWord(JOB, status), critical && tr('on the critical path')];
  return s(
    'g',
    {
      class: classes.filter(Boolean).join(' '),
      key: state.id,
      'data-state': state.name,
      role: 'button',
      tabindex: state.name === at ? '0' : '-1',
      'aria-pressed': String(isChosen),
      onclick: event => {
        event.stopPropagation();
        pick(state.name, event);
      },
      onkeydown: event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        pick(state.name, event);
      },
    },
    // the name of the button, and what is seen of it under the mouse
    s('title', null, visible(`${words.filter(Boolean).join(', ')}\n${state.subtitle}`)),
    s('rect', { class: 'box', x: state.x, y: state.y, width: state.w, height: state.h, rx: state.corner }),
    lines(state.lines, middle, state.y + PAD, NAME_LINE, 'name', room),
    lines(subtitle(state, facts), middle, state.y + PAD + state.lines.length * NAME_LINE, SMALL_LINE, 'small', room),
    facts ? s('g', {
      class: `glyph ${toneOf(JOB, status)}`,
      transform: `translate(${state.x + state.w - 10} ${state.y - 7})`,
    }, s('circle', { class: 'halo', cx: 8, cy: 8, r: 9 }), iconShapes(toneOf(JOB, status))) : null,
  );
}

// The frame of a branch; that of a job of a net has its name.
function drawBranch(branch, critical) {
  const middle = branch.x + branch.w / 2, room = branch.w - 2 * SIDE;
  const isCritical = branch.job !== undefined && critical.has(branch.job);
  const frame = { class: `branch${isCritical ? ' critical' : ''}`, x: branch.x, y: branch.y, width: branch.w,
    height: branch.h, rx: 4 };
  return [s('rect', frame),
    branch.job === undefined ? null :
      [lines(branch.lines, middle, branch.y + PAD, NAME_LINE, 'name', room),
        lines(branch.small, middle, branch.y + PAD + branch.lines.length * NAME_LINE, SMALL_LINE, 'small', room)]];
}

// A line, and a label of one.
function drawEdge(edge, critical) {
  return s('g', { class: `${edge.catch ? 'catch' : ''}${critical.links(edge) ? ' critical' : ''}` },
    s('path', { class: 'line', d: edge.line }), edge.head ? s('path', { class: 'head', d: edge.head }) : null);
}
function drawLabel(label) {
  return s('g', { class: `label${label.catch ? ' catch' : ''}` }, s('title', null, visible(label.title ?? '')),
    s('rect', { x: label.x, y: label.y, width: label.w, height: label.h }),
    lines(label.lines, label.x + label.w / 2, label.y + 3, SMALL_LINE, 'small', label.w - 2));
}

/**
 * The picture; without facts it is that of a machine by itself.
 * @param {Layout} layout
 * @param {StateFacts[] | null} states
 * @param {How} how
 * @returns {SVGElement}
 */
export function graph(layout, states, how) {
  const facts = states ? Object.fromEntries(states.map(f => [f.id, f])) : {};
  const critical = criticalPaths(states);
  // outer states first, so that what is inside of them lies above
  const size = { width: layout.w * how.scale, height: layout.h * how.scale, viewBox: `0 0 ${layout.w} ${layout.h}` };
  return s('svg', { class: 'graph', ...size, role: 'presentation' },
    layers(layout).map(({ states: drawn, branches }, depth) =>
      s('g', { key: depth }, branches.map(b => drawBranch(b, critical)), drawn.map(state =>
        drawState(state, facts[state.id], critical.has(state.id), how)
      ))
    ), s('g', { class: 'edges', key: 'edges' }, layout.edges.map(e => drawEdge(e, critical))),
    s('g', { key: 'labels' }, layout.labels.map(drawLabel)), s('g', { key: 'ends' }, layout.ends.map(e => [
      e.kind === 'end' ? s('circle', { class: 'end-ring', cx: e.x + e.w / 2, cy: e.y + e.h / 2, r: e.w / 2 }) : null,
      s('circle', { class: 'end-disc', cx: e.x + e.w / 2, cy: e.y + e.h / 2, r: e.kind === 'end' ? 4 : e.w / 2 }),
    ])));
}

// The states by how deep they are nested, each layer with the frames of branches that it lies in.
function layers(layout) {
  const depths = new Map();
  const out = [];
  for (const state of layout.states) {
    const depth = state.parent === undefined ? 0 : depths.get(state.parent) + 1;
    depths.set(state.id, depth);
    (out[depth] ??= { states: [], branches: [] }).states.push(state);
  }
  for (const branch of layout.branches) out[depths.get(branch.parent) + 1]?.branches.push(branch);
  return out;
}
