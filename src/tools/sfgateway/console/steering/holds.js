// What is held of a machine or an execution, as their pages show it: { target, state: null for all of the target,
// since, held_by, reason, waiting: how many branches, may_release }; the page of an execution has neither of the last
// two.

import { release } from '../action/actions.js';
import { h } from '../base/dom.js';
import { count } from '../base/format.js';
import { text, time } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { nodeOf } from '../element/nodes.js';
import { rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';

// Who holds what, since when and why. A state is released here; the page has a button for the rest.
export function heldNotices(held, mayRelease, refreshAfter) {
  return held.map(x =>
    h('div', { key: `held${x.target}${x.state}` },
      notice('held',
        h('p', { class: 'row' },
          h('span', null, tr('Held: '), text(x.state ? `${x.target}/${x.state}` : x.target, 'id'), tr(' by '),
            text(x.held_by), tr(' since '), time(x.since), x.reason ? [': ', text(x.reason)] : null,
            x.waiting > 0 ? tr(' · waiting: {0}', count(x.waiting, '{0} branch|{0} branches')) : null),
          x.state && mayRelease ? button(tr('Release…'), () =>
            refreshAfter(release(x)), { class: 'small', 'aria-label': tr('Release… {0}', x.state) }) : null)))
  );
}

// What is held in all of the database, or on all nodes, as a list.
export function heldTable(held, refreshAfter) {
  return table(tr('Held'), [
    { title: tr('Target'), cell: r => text(r.state ? `${r.target}/${r.state}` : r.target, 'id') },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('Since'), cell: r => time(r.since) },
    { title: tr('By'), cell: r => text(r.held_by) },
    { title: tr('Why'), cell: r => r.reason ? text(r.reason) : null, class: 'wide' },
    { title: tr('Waiting'), cell: r => String(r.waiting), class: 'num' },
    { title: '',
      cell: r =>
        r.may_release ? button(tr('Release…'), () =>
          refreshAfter(release(r)), { class: 'small', 'aria-label': tr('Release {0}', r.target) }) : null },
  ], held, r => rowKey(r.node, r.target, r.state), tr('Nothing is held.'));
}

// For a picture of a machine: the states that are held.
export function heldStates(held, machine, layout) {
  const names = new Set(held.filter(x => x.state && x.target === machine).map(x => x.state));
  return (layout?.states ?? []).filter(x => names.has(x.name)).map(x => ({ id: x.id, status: 'held' }));
}
