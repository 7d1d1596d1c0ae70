// Tabs, which the arrow keys lead through. Keys together with Alt, Control or Meta are the browser's.

import { h } from '../base/dom.js';

/** @import { Content } from '../base/dom.js' */

/**
 * A tab.
 * @typedef {object} Tab
 * @property {string} id in the address
 * @property {Content} label
 * @property {() => Content} content draws it
 */

/**
 * Tabs. The chosen one is in the address.
 * @param {string} caption
 * @param {Tab[]} list
 * @param {string} chosen
 * @param {(id: string) => void} choose
 * @returns {HTMLElement[]}
 */
export function tabs(caption, list, chosen, choose) {
  const ids = list.map(tab => tab.id);
  const at = Math.max(0, ids.indexOf(chosen));
  const move = event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === 'Home' ? 0 :
      event.key === 'End' ? ids.length - 1 : step ? (at + step + ids.length) % ids.length : -1;
    if (to < 0) return;
    event.preventDefault();
    choose(ids[to]);
    queueMicrotask(() => document.getElementById(`tab-${ids[to]}`)?.focus());
  };
  return [
    h('div', { role: 'tablist', 'aria-label': caption, class: 'tabs', onkeydown: move, key: 'tabs' },
      list.map(({ id, label }, n) =>
        h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-selected': String(n === at),
          'aria-controls': `panel-${id}`, tabindex: n === at ? '0' : '-1', onclick: () => choose(id) }, label)
      )),
    h('div', { role: 'tabpanel', id: `panel-${ids[at]}`, 'aria-labelledby': `tab-${ids[at]}`, key: `panel-${ids[at]}`,
      class: 'panel', tabindex: '0' }, list[at].content()),
  ];
}
