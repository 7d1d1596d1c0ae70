// Values as elements: texts of others, and times.

import { h } from './dom.js';
import { clock, distance, visible } from './format.js';

// A text of somebody else: in its own direction, with what cannot be seen as escapes.
export function text(value, more = '') {
  return h('bdi', { class: more }, visible(String(value ?? '')));
}

// A time, with the exact one as a tooltip; null without one.
export function time(at, relative = false) {
  if (!at) return null;
  return h('time', { datetime: at, title: new Date(at).toISOString() }, relative ? distance(at) : clock(at));
}
