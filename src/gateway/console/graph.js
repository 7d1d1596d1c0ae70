// The picture of a machine, drawn from the layout that SQL gives, with the status of each state.

import { h, s } from './dom.js';
import { duration } from './format.js';
import { iconShapes, statusIcon, statusWord } from './parts.js';

const SMALL_LINE = 13, NAME_LINE = 15, PAD = 7;

// Texts below each other, from a place on.
function lines(list, x, y, height, more) {
  return list.map((line, n) => s('text', { class: more, x, y: y + (n + 1) * height - 3 }, line));
}

// What an execution did in a state, in a few words; without an execution, what the state is.
function subtitle(state, facts) {
  if (!facts || facts.status === 'entry' || facts.status === 'skip') return state.small;
  const parts = [];
  if (facts.iterations !== undefined) parts.push(`${facts.succeeded}/${facts.iterations} items`, facts.failed ? `${facts.failed} failed` : null);
  else if (facts.visits > 1) parts.push(`${facts.visits} visits`);
  else if (facts.attempts > 1) parts.push(`${facts.attempts} attempts`);
  if (facts.ms !== undefined && ['Task', 'Wait', 'Parallel', 'Map', 'JobNet'].includes(state.type)) parts.push(duration(facts.ms));
  const words = parts.filter(Boolean).join(' · ');
  return words ? [words] : state.small;
}

// The critical paths of nets: which jobs are on one, and which come after each other there. A job is the id of its state,
// or the name of a flow of states.
function criticalPaths(states) {
  const key = job => `${typeof job} ${job}`;
  const jobs = new Set(), links = new Set();
  for (const { critical, critical_after: after } of states ?? []) {
    if (critical === undefined) continue;
    jobs.add(key(critical));
    if (after !== undefined) links.add(`${key(after)}>${key(critical)}`);
  }
  return { has: job => jobs.has(key(job)), links: edge => links.has(`${key(edge.from_job ?? edge.from)}>${key(edge.to_job ?? edge.to)}`) };
}

// One state; it is a button if states can be chosen.
function drawState(state, facts, critical, chosen, choose) {
  const middle = state.x + state.w / 2;
  const status = facts?.aborted ? 'aborted' : facts?.status ?? 'plain';
  const words = `${state.name}, ${state.type}${facts ? `, ${statusWord(status)}` : ''}${critical ? ', on the critical path' : ''}`;
  const pick = choose ? () => choose(state.name) : undefined;
  return s('g', {
    class: `state ${status}${critical ? ' critical' : ''}${chosen ? ' chosen' : ''}`, key: state.id, 'data-state': state.name,
    ...(choose ? { role: 'button', tabindex: '0', 'aria-label': words, 'aria-pressed': String(chosen), onclick: event => {
      event.stopPropagation();
      pick();
    }, onkeydown: event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      pick();
    } } : {}),
  },
  s('title', null, `${state.name}\n${state.subtitle}${critical ? '\nOn the critical path of its net' : ''}`),
  s('rect', { class: 'box', x: state.x, y: state.y, width: state.w, height: state.h, rx: state.corner }),
  lines(state.lines, middle, state.y + PAD, NAME_LINE, 'name'),
  lines(subtitle(state, facts), middle, state.y + PAD + state.lines.length * NAME_LINE, SMALL_LINE, 'small'),
  facts ? s('g', { class: `glyph ${statusIcon(status)}`, transform: `translate(${state.x + state.w - 10} ${state.y - 7})` }, s('circle', { class: 'halo', cx: 8, cy: 8, r: 9 }), iconShapes(statusIcon(status))) : null);
}

// The picture: layout and states as SQL gives them (states may be null: a machine by itself).
export function graph(layout, states, chosen, choose, label) {
  const facts = states ? Object.fromEntries(states.map(f => [f.id, f])) : {};
  const critical = criticalPaths(states);
  // outer states first, so that what is inside of them lies above
  return h('div', { class: 'graph-scroll', key: 'graph', tabindex: '0', role: 'group', 'aria-label': label },
    s('svg', { class: 'graph', width: layout.w, height: layout.h, viewBox: `0 0 ${layout.w} ${layout.h}`, role: 'group', 'aria-label': label },
      layers(layout).map(({ states: drawn, branches }, depth) => s('g', { key: depth },
        branches.map(b => [s('rect', { class: `branch${b.job !== undefined && critical.has(b.job) ? ' critical' : ''}`, x: b.x, y: b.y, width: b.w, height: b.h, rx: 4 }),
          b.job === undefined ? null : [lines(b.lines, b.x + b.w / 2, b.y + PAD, NAME_LINE, 'name'),
            lines(b.small, b.x + b.w / 2, b.y + PAD + b.lines.length * NAME_LINE, SMALL_LINE, 'small')]]),
        drawn.map(state => drawState(state, facts[state.id], critical.has(state.id), state.name === chosen, choose)))),
      s('g', { class: 'edges', key: 'edges' }, layout.edges.map(e => s('g', { class: `${e.catch ? 'catch' : ''}${critical.links(e) ? ' critical' : ''}` },
        s('path', { class: 'line', d: e.line }), e.head ? s('path', { class: 'head', d: e.head }) : null))),
      s('g', { key: 'labels' }, layout.labels.map(l => s('g', { class: `label${l.catch ? ' catch' : ''}` }, s('title', null, l.title ?? ''),
        s('rect', { x: l.x, y: l.y, width: l.w, height: l.h }), lines(l.lines, l.x + l.w / 2, l.y + 3, SMALL_LINE, 'small')))),
      s('g', { key: 'ends' }, layout.ends.map(e => [
        e.kind === 'end' ? s('circle', { class: 'end-ring', cx: e.x + e.w / 2, cy: e.y + e.h / 2, r: e.w / 2 }) : null,
        s('circle', { class: 'end-disc', cx: e.x + e.w / 2, cy: e.y + e.h / 2, r: e.kind === 'end' ? 4 : e.w / 2 })]))));
}

// Bring a state into the middle of the picture, where only a part of it is seen.
export function centre(name) {
  const scroll = document.querySelector('.graph-scroll');
  const found = [...scroll?.querySelectorAll('[data-state]') ?? []].find(e => e.dataset.state === name);
  if (!found) return;
  const outer = scroll.getBoundingClientRect(), inner = found.getBoundingClientRect();
  scroll.scrollBy(inner.x + inner.width / 2 - outer.x - outer.width / 2, inner.y + inner.height / 2 - outer.y - outer.height / 2);
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
