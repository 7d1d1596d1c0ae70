// A task of people: what is to be done, the form of the answer, and the execution that waits for it.

import { onTargets } from '../action/targets.js';
import { call } from '../base/api.js';
import { h, say } from '../base/dom.js';
import { addressOf, executionLink, inboxLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { facts, notice, section } from '../element/blocks.js';
import { button, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { errorNotice } from '../element/errors.js';
import { payload } from '../element/payload.js';
import { badge } from '../element/statuses.js';
import { loadPicture, picture } from '../graph/picture.js';
import { tr } from '../language/texts.js';
import { makeForm } from './form.js';
import { actOnTask, due, heldNotice } from './tasks.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { Layout, StateFacts } from '../graph/graph.js' */

/**
 * The data of the page: what `task` answers, and once the task is over what it has answered before.
 * @typedef {object} TaskData
 * @property {boolean} over
 * @property {Record<string, any>} [task]
 * @property {{ may_do: boolean, may_assign: boolean, why: string | null }} [rights]
 * @property {boolean} [may_read] whether the role may read the execution
 * @property {object[]} [held]
 * @property {Layout | null} [layout] of the execution; without it layoutError
 * @property {Error} [layoutError]
 * @property {StateFacts[]} [states]
 */

export function title({ argument }) {
  return tr('Task {0}', argument);
}

/**
 * @param {Context} context
 * @param {TaskData} [before]
 * @returns {Promise<TaskData>}
 */
export async function load({ argument, ask }, before) {
  const found = /^\d{1,18}$/.test(argument) ? await ask('task', { task: argument }) : null;
  if (found === null) return { ...before, over: true };
  const id = found.task.execution_id;
  if (!found.may_read) return { ...found, over: false };
  const [drawing, head] = await Promise.all([
    before?.layout ? { layout: before.layout } : loadPicture(ask, id),
    ask('execution', { execution_id: id }),
  ]);
  return { ...found, ...drawing, states: head.states, over: false };
}

// How soon to look again: another one may claim it.
export function pace() {
  return 5000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  if (after.over !== before.over) return after.over ? tr('The task is over.') : '';
  return after.task?.claimed_by === before.task?.claimed_by ? '' :
    after.task.claimed_by === null ? tr('Nobody has the task now.') : tr('Claimed by {0}.', after.task.claimed_by);
}

// Say what came of a task, and go back to the others.
function toInbox(said, { leaveFor }) {
  say(said);
  leaveFor(addressOf('inbox'));
}

// Ask for the role that is to have the task.
function assign(task, context) {
  return context.refreshAfter(confirm({
    title: tr('Assign?'),
    yes: tr('Assign'),
    body: [h('p', null, text(task.title)),
      h('p', null, tr('The role has the task from then on, whoever has claimed it.'))],
    fields: [
      field(tr('Role (empty: to nobody)'),
        h('input', { name: 'role', maxlength: '63', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false',
          autofocus: true })),
    ],
    perform: ({ role }) => onTargets(tr('Assigned'), 'assign_task', [String(task.task)], role === '' ? {} : { role }),
  }));
}

// Ask why the task is to fail.
async function fail(task, context) {
  const done = await confirm({
    title: tr('Have the task fail?'),
    yes: tr('Have it fail'),
    danger: true,
    body: [h('p', null, text(task.title)),
      h('p', null, tr('The state fails with the error, which its Retry and Catch see.'))],
    fields: [
      field(tr('Error'),
        h('input', { name: 'error', maxlength: '256', autocomplete: 'off', spellcheck: 'false', autofocus: true })),
      field(tr('Why (kept in the audit)'), h('input', { name: 'cause', maxlength: '4000', autocomplete: 'off' })),
    ],
    perform: values => onTargets(tr('Failed'), 'fail_task', [String(task.task)], values),
  });
  if (done) toInbox(tr('The task has failed.'), context);
}

// Why nothing is offered to do; null: the role may do the task now.
function refusal({ task, rights }, role) {
  if (!rights.may_do) return h('p', null, text(rights.why));
  return task.claimed_by === null || task.claimed_by === role ? null :
    h('p', null, tr('Claimed by '), text(task.claimed_by, 'id'), tr(' since '), time(task.claimed_at), '.');
}

// The buttons.
function taskButtons(data, context) {
  const { task, rights } = data;
  const isMine = task.claimed_by === context.role;
  const isFree = task.claimed_by === null;
  const isHeld = data.held.length > 0;
  return h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
    rights.may_do && isFree && !isHeld ?
      button(tr('Claim'), () => actOnTask(context, 'claim_task', task.task, tr('Claimed.'))) : null,
    isMine || (rights.may_assign && !isFree) ?
      button(tr('Release'), () => actOnTask(context, 'release_task', task.task, tr('Given back.'))) : null,
    rights.may_assign ? button(tr('Assign…'), () => assign(task, context)) : null,
    rights.may_do && (isMine || (isFree && !isHeld)) ?
      button(tr('Fail…'), () => context.refreshAfter(fail(task, context))) : null);
}

// Show what the database says of an answer: at its field, if it names one.
function meetRefusal(error, form, box, context) {
  if (error.pointer !== undefined && form.refuse(error.pointer, error.problem)) return;
  box.replaceChildren(errorNotice(error));
  context.reload();
}

// The form of the answer. What is typed stays, whatever else of the page is brought up to date.
function answerForm({ task }, context) {
  const form = makeForm(task.form);
  const box = h('div', { 'aria-live': 'assertive' });
  const submit = h('button', { type: 'submit', class: 'primary' }, tr('Complete'));
  const comment = h('input', { name: 'comment', maxlength: '4000', autocomplete: 'off' });
  return h('form', { class: 'answer', novalidate: true, key: 'form', same: `${task.task} ${JSON.stringify(task.form)}`,
    onsubmit: async event => {
      event.preventDefault();
      box.replaceChildren();
      submit.disabled = true;
      try {
        await call('complete_task', { targets: [String(task.task)], output: form.read(),
          ...(comment.value === '' ? {} : { comment: comment.value }) });
        toInbox(tr('Completed.'), context);
      } catch (error) {
        meetRefusal(error, form, box, context);
      }
      submit.disabled = false;
    } }, form.elements, field(tr('Comment (kept in the audit)'), comment), box,
    h('div', { class: 'row' }, submit,
      h('span', { class: 'muted' }, tr('You answer as '), text(context.role, 'id'), '.')));
}

// What there is to know of the task.
function head({ task, may_read: mayRead }) {
  return facts([
    [tr('Worklist'), inboxLink({ worklist: task.worklist, which: 'all' }, text(task.worklist))],
    [tr('Execution'),
      mayRead ? executionLink(task.execution_id, { state: task.state }) : text(task.execution_id, 'id')],
    [tr('State'), text(task.state)],
    [tr('Due'), task.due_at ? due(task.due_at) : null],
    [tr('Priority'), task.priority === 0 ? null : String(task.priority)],
    [tr('Waits since'), time(task.created_at, true)],
    [tr('Claimed by'),
      task.claimed_by === null ? tr('nobody') : [text(task.claimed_by), ', ', time(task.claimed_at, true)]],
    [tr('For'), task.roles.length > 0 ? text(task.roles.join(', ')) : null],
    [tr('Not by'), task.not_by.length > 0 ? text(task.not_by.join(', ')) : null],
  ]);
}

/**
 * @param {TaskData} data
 * @param {Context} context
 */
export function draw(data, context) {
  const { task } = data;
  const back = h('p', { key: 'back' }, inboxLink({}, ['‹ ', tr('Inbox')]));
  if (task === undefined)
    return [back, h('h1', { tabindex: '-1', key: 'h1' }, title(context)),
      h('p', { class: 'none', key: 'none' }, tr('The task is over, does not exist, or is not for your roles.'))];
  const refused = data.over ? h('p', null, tr('The task is over: it was answered, or is not waited for any more.')) :
    refusal(data, context.role);
  return [
    back,
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(task.title)),
      data.over ? badge('skip', tr('over')) : taskButtons(data, context)),
    h('div', { key: 'facts' }, head(data)),
    h('div', { key: 'wrong', role: 'alert' }, context.kept.wrong ? errorNotice(context.kept.wrong) : null),
    h('div', { key: 'held' }, heldNotice(data.held)),
    refused ? h('div', { key: 'refused' }, notice('stop', refused)) : null,
    h('div', { class: 'columns', key: 'columns' },
      refused ? null : section(tr('Answer'), {}, answerForm(data, context)),
      task.data === null ? null :
        section(tr('Data'), {}, payload(tr('Data'), task.data, { what: 'task', task: task.task }))),
    data.may_read ? section(tr('Execution'), {}, picture(data, data.states, task.state, state => {
      context.leaveFor(addressOf('execution', task.execution_id, { state }));
    }, tr('States of the execution'), context)) : null,
  ];
}
