// What operators do with executions, machines and states: the question before each, and what came of it.

import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { count } from '../base/format.js';
import { addressOf } from '../base/links.js';
import { choice, field, reasonField } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { tr } from '../language/texts.js';
import { leftOut, nameList, onTargets } from './targets.js';

/** @import { Context } from '../frame/pages.js' */

// Stop executions; so many others were chosen, too.
export function stop(ids, others = 0) {
  return confirm({
    title: ids.length === 1 ? tr('Stop the execution?') :
      tr('Stop {0}?', count(ids.length, '{0} execution|{0} executions')),
    yes: tr('Stop'),
    danger: true,
    body: [
      h('p', null,
        tr('Tasks that run in the database are cancelled and rolled back. No further job runs until a redrive.')),
      nameList(ids),
      leftOut(others,
        '{0} chosen execution has ended, and is left out.|{0} chosen executions have ended, and are left out.'),
    ],
    fields: [reasonField()],
    perform: values => onTargets(tr('Stopped'), 'stop', ids, values),
  });
}

// Hold executions, a machine or a state.
export function hold(targets, state = null) {
  return confirm({
    title: state ? tr('Hold {0}?', state) : targets.length === 1 ? tr('Hold?') : tr('Hold {0}?', targets.length),
    yes: tr('Hold'),
    body: [
      h('p', null, tr('From then on no step of it begins; what runs goes on to its end. '),
        tr('Nothing is lost: what would begin waits for the release.')),
      nameList(targets),
    ],
    fields: [reasonField()],
    perform: values => onTargets(tr('Held'), 'hold', targets, { ...values, ...(state ? { state } : {}) }),
  });
}

/**
 * Release what is held; waiting: how many branches wait, if it is known.
 * @param {{ target: string, state?: string | null, waiting?: number }} held
 * @returns {Promise<any>}
 */
export function release(held) {
  const effect = held.waiting === undefined ? tr('What waits can go on.') :
    count(held.waiting, '{0} branch that waits can go on.|{0} branches that wait can go on.');
  return confirm({
    title: tr('Release?'),
    yes: tr('Release'),
    body: [
      h('p', null, effect, ' ', tr('What another hold or a limit keeps waits for that.')),
      nameList([held.state ? `${held.target}/${held.state}` : held.target]),
    ],
    perform: () => onTargets(tr('Released'), 'release', [held.target], held.state ? { state: held.state } : {}),
  });
}

// Settle a job without its task.
export function mark(id, job) {
  return confirm({
    title: tr('Mark {0}?', job),
    yes: tr('Mark'),
    body: [
      h('p', null,
        tr(
          'The job is settled without its task: when the execution comes to it, it goes on past it. A ' +
            'mark alone runs nothing; redrive a failed execution after it.',
        )),
      nameList([id]),
    ],
    fields: [
      choice(tr('It counts as'), 'outcome', [['success', tr('success')], ['skip', tr('skipped')], ['failure',
        tr('failure')]]),
      field(tr('Result (JSON, for success; empty: its input)'),
        h('textarea', { name: 'output', rows: '3', spellcheck: 'false' })),
      reasonField(),
    ],
    perform: values =>
      onTargets(tr('Marked'), 'mark', [id], { job_id: job, outcome: values.outcome, reason: values.reason,
        ...(values.output ? { output: values.output } : {}) }),
  });
}

/**
 * Start an execution, and go to its page.
 * @param {string} machine
 * @param {Context} context
 */
export async function start(machine, { leaveFor }) {
  const started = await confirm({
    title: tr('Start {0}?', machine),
    yes: tr('Start'),
    fields: [
      field(tr('Name (empty: by the machine)'),
        h('input', { name: 'name', maxlength: '80', autocomplete: 'off', autofocus: true })),
      field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '6', spellcheck: 'false' }, '{}')),
    ],
    perform: values =>
      call('start', { state_machine: machine, input: values.input || '{}',
        ...(values.name ? { name: values.name } : {}) }),
  });
  if (started) leaveFor(addressOf('execution', started.execution_id));
}
