// Tabs, which the arrow keys lead through.

import { h } from '../base/dom.js';

// Tabs; each is [id, label, content]. The chosen one is in the address.
export function tabs(label, list, chosen, choose) {
  const ids = list.map(([id]) => id);
  const at = Math.max(0, ids.indexOf(chosen));
  const move = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === 'Home' ? 0 :
      event.key === 'End' ? ids.length - 1 : step ? (at + step + ids.length) % ids.length : -1;
    if (to < 0) return;
    event.preventDefault();
    choose(ids[to]);
    queueMicrotask(() => document.getElementById(`tab-${ids[to]}`)?.focus());
  };
  return [
    h('div', { role: 'tablist', 'aria-label': label, class: 'tabs', onkeydown: move, key: 'tabs' },
      list.map(([id, word], n) =>
        h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-selected': String(n === at),
          'aria-controls': `panel-${id}`, tabindex: n === at ? '0' : '-1', onclick: () => choose(id) }, word)
      )),
    h('div', { role: 'tabpanel', id: `panel-${ids[at]}`, 'aria-labelledby': `tab-${ids[at]}`, key: `panel-${ids[at]}`,
      class: 'panel', tabindex: '0' }, list[at][2]()),
  ];
}
