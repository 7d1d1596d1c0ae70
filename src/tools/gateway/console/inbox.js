// The inbox: tasks of people, as far as the role may do or assign them.

import { call } from './api.js';
import { h, say } from './dom.js';
import { badge, button, errorNotice, executionLink, field, icon, notice, queryString, table, tabs, text,
  time } from './parts.js';
import { tr } from './texts.js';

// What can be chosen, with the count of each.
const WHICH = [['open', tr('For my roles')], ['mine', tr('Mine')], ['overdue', tr('Overdue')], ['all', tr('All')]];

export function title() {
  return tr('Inbox');
}

export function load({ ask, query }) {
  return ask('inbox', { which: whichOf(query), ...(query.worklist ? { worklist: query.worklist } : {}),
    ...(query.key ? { after: query.key } : {}) });
}

// How soon to look again: people wait for others.
export function pace() {
  return 5000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const was = sum(before.counts, 'open', undefined), is = sum(after.counts, 'open', undefined);
  return is > was ? tr('{0} tasks for your roles', is) : '';
}

// Which tasks are asked for.
function whichOf(query) {
  return WHICH.some(([which]) => which === query.which) ? query.which : 'open';
}

// How many tasks there are, in a worklist or in all.
function sum(counts, which, worklist) {
  return counts.filter(c => !worklist || c.worklist === worklist).reduce(
    (n, c) => n + c[which === 'all' ? 'tasks' : which],
    0,
  );
}

// A task as a link.
export function taskLink(task, words) {
  return h('a', { href: `#/task/${task}` }, text(words));
}

// When a task is to be done.
export function due(at) {
  if (!at) return '–';
  return new Date(at) < new Date() ? badge('TIMED_OUT', [tr('overdue since '), time(at)]) : time(at, true);
}

// What keeps tasks from being given out.
export function heldNotice(held) {
  return held.map(x =>
    notice('held',
      h('p', null, tr('The worklist '), text(x.target.slice('human:'.length)), tr(' is held since '), time(x.since),
        tr(' by '), text(x.held_by), x.reason ? [': ', text(x.reason)] : '', tr('. No task of it is given out.')))
  );
}

// Do something with a task; what is refused is shown, and the page comes up to date.
export async function act(context, action, task, said, request = {}) {
  context.state.wrong = null;
  try {
    await call(action, { ...request, targets: [String(task)] });
    say(said);
  } catch (error) {
    context.state.wrong = error;
  }
  await context.reload();
}

// The tasks of a page.
function list(data, context, which) {
  const doing = which === 'open' ? ['claim_task', tr('Claim'), tr('Claimed.')] :
    which === 'mine' ? ['release_task', tr('Release'), tr('Given back.')] : null;
  return [
    table(tr('Tasks'), [
      [tr('Task'), r => taskLink(r.task, r.title), 'wide'],
      [tr('Worklist'), r => text(r.worklist)],
      [tr('Priority'), r => r.priority === 0 ? '–' : String(r.priority), 'num'],
      [tr('Due'), r => due(r.due_at)],
      [tr('Claimed by'), r => r.claimed_by === null ? '–' : text(r.claimed_by)],
      [tr('Execution'),
        r =>
          data.readable.includes(r.execution_id) ? executionLink(r.execution_id, { state: r.state }) :
            text(r.execution_id, 'id'), 'wide'],
      [tr('Waits since'), r => time(r.created_at, true)],
      ['',
        r =>
          doing === null ? null : button(doing[1], () =>
            act(context, doing[0], r.task, doing[2]), { class: 'small', 'aria-label': `${doing[1]} ${r.title}` })],
    ], data.rows, r => r.task,
      data.counts.length === 0 ?
        tr(
          'There is no worklist that you own or have a right on. sf_create_worklist makes one; a Task ' +
            'with the Resource human:NAME has its tasks done by people.',
        ) : tr('Nothing to do here.')),
    h('nav', { class: 'row pager', 'aria-label': tr('Pages of tasks'), key: 'pager' },
      context.query.key ? button(tr('First page'), () => context.go({ ...context.query, key: undefined })) : null,
      data.next ? button([tr('Next page '), icon('next')], () => context.go({ ...context.query, key: data.next })) :
        null),
  ];
}

export function draw(data, context) {
  const { worklist } = context.query;
  const which = whichOf(context.query);
  const choose = changed => context.go({ ...context.query, key: undefined, ...changed });
  // what was chosen there before stays, unless the page says so
  requestAnimationFrame(() => {
    const select = document.querySelector('.page-inbox select');
    if (select) select.value = worklist ?? '';
  });
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Inbox')),
    h('div', { key: 'wrong', role: 'alert' }, context.state.wrong ? errorNotice(context.state.wrong) : null),
    h('div', { key: 'held' }, heldNotice(data.held)),
    data.counts.length < 2 ? null :
      h('div', { class: 'filters', key: 'filters' },
        field(tr('Worklist'),
          h('select', { name: 'worklist', onchange: event => choose({ worklist: event.currentTarget.value }) },
            h('option', { value: '' }, tr('all')),
            data.counts.map(c => h('option', { value: c.worklist, selected: c.worklist === worklist }, c.worklist))))),
    h('div', { class: 'card', key: 'list' },
      tabs(tr('Which tasks'),
        WHICH.map((
          [one, word],
        ) => [one, [word, h('span', { class: 'count' }, String(sum(data.counts, one, worklist)))],
          () => list(data, context, which)]
        ), which, chosen => choose({ which: chosen }))),
  ];
}

// A link to the inbox.
export function inboxLink(query, words) {
  return h('a', { href: `#/inbox${queryString(query)}` }, words);
}
