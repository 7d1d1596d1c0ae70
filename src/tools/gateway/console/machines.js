// State machines: how each is doing.

import { start } from './dialog.js';
import { h } from './dom.js';
import { duration } from './format.js';
import { button, hash, icon, machineLink, may, table, text } from './parts.js';

export function title() {
  return 'Machines';
}

export function load({ ask, query }) {
  return ask('machines', query.after ? { after: query.after } : {});
}

export function draw(data, context) {
  const begin = async machine => {
    const made = await start(machine);
    if (made) location.hash = hash.execution(made.execution_id);
  };
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, 'Machines'),
    h('div', { class: 'card', key: 'list' }, table('Machines', [
      ['Machine', r => machineLink(r.state_machine)],
      ['Version', r => String(r.version), 'num'],
      ['Owner', r => text(r.owner), 'hide-narrow'],
      ['Started', r => String(r.started ?? 0), 'num'],
      ['Succeeded', r => String(r.succeeded ?? 0), 'num'],
      ['Failed',
        r =>
          r.failed > 0 ?
            h('a', { class: 'bad', href: hash.executions({ state_machine: r.state_machine, status: 'FAILED' }) },
              icon('bad', 'bad'), String(r.failed)) : '0', 'num'],
      ['Median', r => duration(r.p50) || '–', 'num'],
      ['95 %', r => duration(r.p95) || '–', 'num'],
      ['',
        r => [h('a', { href: hash.executions({ state_machine: r.state_machine }) }, 'Executions'), ' ',
          may(data.rights, r.state_machine, 'START') ?
            button('Start…', () => begin(r.state_machine), { class: 'small',
              'aria-label': `Start ${r.state_machine}` }) : null]],
    ], data.rows, r => r.state_machine,
      'There is no machine that you may read. ' +
        "A member of its owner can give the right: sf_grant('READ', machine, role).")),
    h('nav', { class: 'row pager', 'aria-label': 'Pages of machines', key: 'pager' },
      context.query.after ? button('First page', () => context.go({})) : null,
      data.next ? button(['Next page ', icon('next')], () => context.go({ after: data.next })) : null),
  ];
}
