// A payload: JSON as a tree that folds, or text. It can be copied and hidden; what was cut is fetched when it is
// asked for.

import { whole } from './api.js';
import { h, say } from './dom.js';
import { bytes, count, visible } from './format.js';
import { readJson } from './json.js';
import { button, errorNotice, icon } from './parts.js';
import { tr } from './texts.js';

const MOST_VALUES = 3000; // of a tree; beyond it the payload is shown as text
const MOST_TREE = 200000; // characters of a tree, too
const PIECE = 100000; // characters of a text that are shown at once
const HIDDEN = 'sfflow-hide-payloads';

// Are payloads hidden until each is asked for?
export function payloadsHidden() {
  return sessionStorage.getItem(HIDDEN) === '1';
}

// Hide payloads, or show them.
export function hidePayloads(hidden) {
  sessionStorage.setItem(HIDDEN, hidden ? '1' : '0');
}

// A value of a tree.
function tree(value, key, depth) {
  const name = key === null ? null : [h('span', { class: 'j-key' }, visible(key)), ': '];
  if (value.items === undefined) {
    const shown = value.kind === 'string' ? JSON.stringify(value.text).slice(1, -1) : value.text;
    return h('div', { class: 'j-row' }, name,
      h('bdi', { class: `j-${value.kind}` }, value.kind === 'string' ? `"${visible(shown)}"` : shown));
  }
  const [open, close] = value.kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (value.items.length === 0) return h('div', { class: 'j-row' }, name, `${open}${close}`);
  const what = value.kind === 'object' ? count(value.items.length, '{0} member|{0} members') :
    count(value.items.length, '{0} item|{0} items');
  return h('details', { class: 'j-fold', open: depth < 2 || value.items.length < 4 },
    h('summary', null, name, open, h('span', { class: 'j-count' }, ` ${what} `), h('span', { class: 'j-end' }, close)),
    h('div', { class: 'j-items' }, value.items.map(([k, v]) => tree(v, value.kind === 'object' ? k : null, depth + 1))),
    h('div', { class: 'j-row' }, close));
}

// Indent JSON; a text that is no JSON stays as it is.
function pretty(text) {
  const value = readJson(text, 20000);
  if (value === null) return text;
  const out = [];
  print(value, '', out);
  return out.join('');
}

// Print a value with indentation.
function print(value, indent, out) {
  if (value.items === undefined) {
    out.push(value.kind === 'string' ? JSON.stringify(value.text) : value.text);
    return;
  }
  const [open, close] = value.kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (value.items.length === 0) {
    out.push(open, close);
    return;
  }
  out.push(open);
  value.items.forEach(([key, item], n) => {
    out.push(n ? ',\n' : '\n', indent, '  ');
    if (value.kind === 'object') out.push(JSON.stringify(key), ': ');
    print(item, `${indent}  `, out);
  });
  out.push('\n', indent, close);
}

// Put a text into the clipboard.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'unseen' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(tr('Copied.'));
}

// The text of a payload, a piece at first.
function longText(text) {
  const pre = h('pre', { class: 'j-text', dir: 'ltr', tabindex: '0' });
  const more = h('div', { class: 'row' });
  let shown = 0;
  const add = () => {
    pre.append(h('bdi', null, visible(text.slice(shown, shown + PIECE))));
    shown += PIECE;
    more.replaceChildren(
      ...(shown < text.length ?
        [button(tr('Show more ({0} parts left)', Math.ceil((text.length - shown) / PIECE)), add)] : []),
    );
  };
  add();
  return [pre, more];
}

// A payload that the server has cut, or not: { text, bytes, cut }; request says how to get all of it.
export function payload(title, doc, request) {
  if (!doc) return null;
  const state = { text: doc.text, cut: doc.cut, hidden: payloadsHidden(), shown: null, error: null };
  const holder = h('div', { class: 'payload', role: 'group', 'aria-label': title, key: `payload-${title}`,
    same: `${title}${doc.bytes}${doc.text}${payloadsHidden()}` });
  const fetchAll = async () => {
    try {
      state.text = await whole(request);
      state.cut = false;
    } catch (error) {
      state.error = error;
    }
  };
  const draw = () => holder.replaceChildren(...content());
  const fold = open => {
    for (const part of holder.querySelectorAll('details')) part.open = open;
  };
  const content = () => {
    const value = state.cut || state.hidden || state.text.length > MOST_TREE ? null : readJson(state.text, MOST_VALUES);
    const isTree = value !== null && value.items !== undefined;
    const bar = h('div', { class: 'payload-bar' }, h('h3', null, title),
      h('span', { class: 'muted' }, bytes(doc.bytes)),
      isTree ? button(tr('Fold'), () => fold(false), { class: 'small' }) : null,
      isTree ? button(tr('Unfold'), () => fold(true), { class: 'small' }) : null,
      button([icon('copy'), tr('Copy')], async () => {
        if (state.cut) await fetchAll();
        if (state.error) draw();
        else await copy(state.text);
      }, { class: 'small', 'aria-label': tr('Copy {0}', title) }),
      button([icon('eye'), state.hidden ? tr('Show') : tr('Hide')], () => {
        state.hidden = !state.hidden;
        draw();
      }, { class: 'small', 'aria-pressed': String(state.hidden),
        'aria-label': `${state.hidden ? tr('Show') : tr('Hide')} ${title}` }));
    if (state.error) return [bar, errorNotice(state.error)];
    if (state.hidden) return [bar, h('p', { class: 'muted' }, tr('Hidden.'))];
    if (isTree) return [bar, h('div', { class: 'j-tree', dir: 'ltr' }, tree(value, null, 0))];
    return [bar, ...longText(state.cut ? state.text : pretty(state.text)),
      state.cut ?
        h('div', { class: 'row' }, h('span', { class: 'muted' }, tr('Only the beginning is shown.')),
          button(tr('Show all ({0})', bytes(doc.bytes)), async event => {
            event.target.disabled = true;
            await fetchAll();
            draw();
          })) : null].filter(Boolean);
  };
  draw();
  return holder;
}

// A small payload in a cell.
export function excerpt(doc) {
  return doc ? h('code', { class: 'excerpt' }, h('bdi', null, visible(doc.text)), doc.cut ? '…' : '') : null;
}
