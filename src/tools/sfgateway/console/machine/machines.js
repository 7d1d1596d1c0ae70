// State machines: how each is doing. The data of the page, of `machines`: rows: [{ state_machine, version, owner,
// started, succeeded, failed, p50, p95 }], rights, next: the name after which the next page begins.

import { start } from '../action/actions.js';
import { h } from '../base/dom.js';
import { duration } from '../base/format.js';
import { addressOf, failedLink, machineLink } from '../base/links.js';
import { text } from '../base/values.js';
import { button } from '../element/controls.js';
import { pager } from '../element/pager.js';
import { may } from '../element/rights.js';
import { table } from '../element/table.js';
import { tr } from '../language/texts.js';

export function title() {
  return tr('Machines');
}

export function load({ ask, query }) {
  return ask('machines', query.after ? { after: query.after } : {});
}

export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Machines')),
    h('div', { class: 'card', key: 'list' }, table(tr('Machines'), [
      { title: tr('Machine'), cell: r => machineLink(r.state_machine) },
      { title: tr('Version'), cell: r => String(r.version), class: 'num' },
      { title: tr('Owner'), cell: r => text(r.owner), class: 'hide-narrow' },
      { title: tr('Started'), cell: r => String(r.started ?? 0), class: 'num' },
      { title: tr('Succeeded'), cell: r => String(r.succeeded ?? 0), class: 'num' },
      { title: tr('Failed'), cell: failedLink, class: 'num' },
      { title: tr('Median'), cell: r => duration(r.p50) || null, class: 'num' },
      { title: '95 %', cell: r => duration(r.p95) || null, class: 'num' },
      { title: '',
        cell:
          r => [h('a', { href: addressOf('executions', '', { state_machine: r.state_machine }) }, tr('Executions')),
            ' ',
            may(data.rights, r.state_machine, 'START') ?
              button(tr('Start…'), () => context.refreshAfter(start(r.state_machine, context)), { class: 'small',
                'aria-label': tr('Start {0}', r.state_machine) }) : null] },
    ], data.rows, r => r.state_machine,
      tr(
        'There is no machine that you may read. A member of its owner can give the right: ' +
          "sf_grant('READ', machine, role).",
      ))),
    pager(tr('Pages of machines'), context, 'after', data.next),
  ];
}
