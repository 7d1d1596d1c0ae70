// What pages are built of: parts with a heading, names and values, and what is to be read first.

import { h } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';

// A part of a page with a heading.
export function section(title, props, ...children) {
  const { id = `h-${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}`, count: number, ...rest } = props ?? {};
  return h('section', { 'aria-labelledby': id, key: id, ...rest, class: `card ${rest.class ?? ''}` },
    h('h2', { id }, text(title), number !== undefined ? h('span', { class: 'count' }, String(number)) : null),
    children);
}

// Names and values.
export function facts(pairs) {
  return h('dl', { class: 'facts' },
    pairs.filter(p => p && p[1] !== null && p[1] !== undefined && p[1] !== '').map(([name, value]) =>
      h('div', { key: name }, h('dt', null, name), h('dd', null, value))
    ));
}

// What stands for a part of a page that was not asked for before.
export function loading() {
  return h('p', { class: 'muted' }, tr('Loading…'));
}

// Something that the user should read.
export function notice(kind, ...children) {
  return h('div', { class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : null }, icon(kind, kind),
    h('div', null, children));
}
