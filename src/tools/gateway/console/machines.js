// State machines: how each is doing.

import { start } from './dialog.js';
import { h } from './dom.js';
import { duration } from './format.js';
import { button, hash, icon, machineLink, may, table, text } from './parts.js';
import { tr } from './texts.js';

export function title() {
  return tr('Machines');
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
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Machines')),
    h('div', { class: 'card', key: 'list' }, table(tr('Machines'), [
      [tr('Machine'), r => machineLink(r.state_machine)],
      [tr('Version'), r => String(r.version), 'num'],
      [tr('Owner'), r => text(r.owner), 'hide-narrow'],
      [tr('Started'), r => String(r.started ?? 0), 'num'],
      [tr('Succeeded'), r => String(r.succeeded ?? 0), 'num'],
      [tr('Failed'),
        r =>
          r.failed > 0 ?
            h('a', { class: 'bad', href: hash.executions({ state_machine: r.state_machine, status: 'FAILED' }) },
              icon('bad', 'bad'), String(r.failed)) : '0', 'num'],
      [tr('Median'), r => duration(r.p50) || '–', 'num'],
      ['95 %', r => duration(r.p95) || '–', 'num'],
      ['',
        r => [h('a', { href: hash.executions({ state_machine: r.state_machine }) }, tr('Executions')), ' ',
          may(data.rights, r.state_machine, 'START') ?
            button(tr('Start…'), () => begin(r.state_machine), { class: 'small',
              'aria-label': tr('Start {0}', r.state_machine) }) : null]],
    ], data.rows, r => r.state_machine,
      tr(
        'There is no machine that you may read. A member of its owner can give the right: ' +
          "sf_grant('READ', machine, role).",
      ))),
    h('nav', { class: 'row pager', 'aria-label': tr('Pages of machines'), key: 'pager' },
      context.query.after ? button(tr('First page'), () => context.go({})) : null,
      data.next ? button([tr('Next page '), icon('next')], () => context.go({ after: data.next })) : null),
  ];
}
