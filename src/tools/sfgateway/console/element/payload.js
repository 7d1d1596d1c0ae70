// A payload: JSON as a tree that folds, or text. It can be copied and hidden; what was cut is fetched when it is
// asked for.

import { fetchWhole } from '../base/api.js';
import { h, patch, say } from '../base/dom.js';
import { bytes, count, visible } from '../base/format.js';
import { icon } from '../base/icons.js';
import { printJson, readJson } from '../base/json.js';
import { tr } from '../language/texts.js';
import { button } from './controls.js';
import { errorNotice } from './errors.js';

/** @import { Doc } from '../base/format.js' */

const MOST_VALUES = 3000; // of a tree; beyond it the payload is shown as text
const MOST_TREE = 200000; // characters of a tree, too
const PIECE = 100000; // characters of a text that are shown at once
const HIDDEN = 'sfflow-hide-payloads';

/**
 * How all of a payload is asked for.
 * @typedef {object} DocRequest
 * @property {string} [execution_id]
 * @property {'input' | 'output' | 'cause' | 'event' | 'task'} [what]
 * @property {number} [event]
 * @property {string} [member] of the event: input or output
 * @property {number} [task]
 */

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
  const name = key === null ? null : [h('bdi', { class: 'j-key' }, visible(key)), ': '];
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

// Indent JSON; a text that is no JSON, or has very many values, stays as it is.
function pretty(text) {
  const value = readJson(text, 20000);
  return value === null ? text : printJson(value, '', 0);
}

// Put a text into the clipboard.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(tr('Copied.'));
  } catch {
    say(copySelected(text) ? tr('Copied.') : tr('It could not be copied.'));
  }
}

// The same for pages that may not use the clipboard, as those without TLS; tells whether it went well.
function copySelected(text) {
  const area = h('textarea', { class: 'unseen' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
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

/**
 * A payload; null without one.
 * @param {string} title
 * @param {Doc | null | undefined} doc
 * @param {DocRequest} request
 * @returns {HTMLElement | null}
 */
export function payload(title, doc, request) {
  if (!doc) return null;
  const mark = JSON.stringify([title, doc, request, payloadsHidden()]);
  return h('div', { class: 'payload', role: 'group', 'aria-label': title, key: mark, same: mark },
    () => payloadView(title, doc, request));
}

// What a payload shows, brought up to date by its buttons.
function payloadView(title, doc, request) {
  const shown = { title, bytes: doc.bytes, text: doc.text, cut: doc.cut, hidden: payloadsHidden(), error: null };
  const fetchAll = async () => {
    shown.error = null;
    try {
      shown.text = await fetchWhole(request, () => view.isConnected);
      shown.cut = false;
    } catch (error) {
      shown.error = error;
    }
    update();
  };
  const actions = {
    copy: async () => {
      if (shown.cut) await fetchAll();
      if (!shown.error) await copy(shown.text);
    },
    toggle: () => {
      shown.hidden = !shown.hidden;
      update();
    },
    fetchAll,
  };
  const view = h('div', null, payloadParts(shown, actions));
  const update = () => patch(view, h('div', null, payloadParts(shown, actions)));
  return view;
}

// The bar of a payload, an error, and its tree or its text.
function payloadParts(shown, actions) {
  const isShort = !shown.cut && !shown.hidden && shown.text.length <= MOST_TREE;
  const value = isShort ? readJson(shown.text, MOST_VALUES) : null;
  const isTree = value?.items !== undefined;
  return [payloadBar(shown, isTree, actions), shown.error ? h('div', { key: 'error' }, errorNotice(shown.error)) : null,
    shown.hidden ? h('p', { class: 'muted', key: 'hidden' }, tr('Hidden.')) :
      isTree ? h('div', { class: 'j-tree', dir: 'ltr', key: 'tree' }, tree(value, null, 0)) :
      h('div', { key: shown.cut ? 'beginning' : 'text', same: 'text' },
        () => longText(shown.cut ? shown.text : pretty(shown.text))),
    shown.cut && !shown.hidden ?
      h('div', { class: 'row', key: 'more' }, h('span', { class: 'muted' }, tr('Only the beginning is shown.')),
        button(tr('Show all ({0})', bytes(shown.bytes)), event => {
          event.currentTarget.disabled = true; // until it is drawn anew
          actions.fetchAll();
        })) : null];
}

// The name of a payload, its size and its buttons.
function payloadBar({ title, bytes: size, hidden }, isTree, { copy, toggle }) {
  const fold = open => event => {
    for (const part of event.currentTarget.closest('.payload').querySelectorAll('details')) part.open = open;
  };
  const toggleWord = hidden ? tr('Show') : tr('Hide');
  return h('div', { class: 'payload-bar', key: 'bar' }, h('h3', null, title),
    h('span', { class: 'muted' }, bytes(size)),
    isTree ? button(tr('Fold'), fold(false), { class: 'small', key: 'fold' }) : null,
    isTree ? button(tr('Unfold'), fold(true), { class: 'small', key: 'unfold' }) : null,
    button([icon('copy'), tr('Copy')], copy, { class: 'small', 'aria-label': tr('Copy {0}', title), key: 'copy' }),
    button([icon('eye'), toggleWord], toggle, { class: 'small', 'aria-pressed': String(hidden),
      'aria-label': `${toggleWord} ${title}`, key: 'toggle' }));
}

/**
 * A small payload in a cell.
 * @param {Doc | null | undefined} doc
 * @returns {HTMLElement | null}
 */
export function excerpt(doc) {
  return doc ? h('code', { class: 'excerpt' }, h('bdi', null, visible(doc.text)), doc.cut ? '…' : '') : null;
}
