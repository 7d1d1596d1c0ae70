// Keys that go from state to state of a picture, and zoom.

import { centre, fitting, visibleSize, zoom, ZOOM_STEP } from './zoom.js';

/** @import { Layout } from './graph.js' */
/** @import { View } from './viewer.js' */

const HEAD = 40; // of a state with others in it: its name is there

// The point of a state from which and to which arrows go.
function pointOf(layout, state) {
  const isOuter = layout.states.some(x => x.parent === state.id);
  return { x: state.x + state.w / 2, y: state.y + (isOuter ? Math.min(HEAD, state.h) : state.h) / 2 };
}

// The next state in a direction: near, and rather straight ahead.
function nextState(layout, from, dx, dy) {
  const start = pointOf(layout, from);
  let best = null, least = Infinity;
  for (const state of layout.states) {
    if (state === from) continue;
    const to = pointOf(layout, state);
    const ahead = (to.x - start.x) * dx + (to.y - start.y) * dy;
    const aside = Math.abs((to.x - start.x) * dy + (to.y - start.y) * dx);
    if (ahead < 4 || (dx !== 0 && aside > ahead * 3)) continue;
    const cost = ahead + aside * 2;
    if (cost < least) [best, least] = [state, cost];
  }
  return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The state to which a key goes from another one; null: none.
function stateAfterKey(layout, from, key) {
  const all = layout.states, n = all.indexOf(from);
  if (ARROWS[key]) return nextState(layout, from, ...ARROWS[key]);
  if (key === 'Home') return all[0];
  if (key === 'End') return all[all.length - 1];
  if (key === 'PageDown') return all[Math.min(n + 1, all.length - 1)];
  if (key === 'PageUp') return all[Math.max(n - 1, 0)];
  return null;
}

// Give the focus to a state, which is the one stop of the Tab key from then on.
function focusState(root, view, name) {
  for (const e of root.querySelectorAll('[data-state]')) {
    e.setAttribute('tabindex', e.dataset.state === name ? '0' : '-1');
    if (e.dataset.state === name) e.focus({ preventScroll: true });
  }
  view.at = name;
  centre(name);
}

/**
 * Handle a key in the picture.
 * @param {KeyboardEvent} event
 * @param {Layout} layout
 * @param {View} view
 */
export function handleKey(event, layout, view) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const root = event.target.closest('.graph-view');
  const scale =
    { '+': view.scale * ZOOM_STEP, '=': view.scale * ZOOM_STEP, '-': view.scale / ZOOM_STEP,
      0: fitting(layout, visibleSize(root)) }[event.key];
  const from = layout.states.find(x => x.name === event.target.closest('[data-state]')?.dataset.state);
  const to = from && stateAfterKey(layout, from, event.key);
  if (scale !== undefined) {
    view.auto = false;
    zoom(root, layout, view, scale);
  } else if (to) {
    focusState(root, view, to.name);
  } else if (!from || !(event.key in ARROWS || event.key === 'PageDown' || event.key === 'PageUp')) {
    return;
  }
  event.preventDefault();
}
