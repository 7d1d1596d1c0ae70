// Redrives: the question before, with what would run.

import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { count } from '../base/format.js';
import { text } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { field } from '../element/controls.js';
import { confirm, isAsking, prepare, tell } from '../element/dialog.js';
import { errorNotice } from '../element/errors.js';
import { tr } from '../language/texts.js';
import { leftOut, nameList, onTargets } from './targets.js';

/** @import { Content } from '../base/dom.js' */

// A warning if a redrive would only repeat Fail states; `like` is the execution that shows it for others.
function failsAgain(plan, like = null) {
  return plan.fails_again ?
    notice('late',
      h('p', null, like === null ? null : [tr('As in '), text(like, 'id'), ': '],
        tr(
          'Only the Fail state is repeated, which fails again. To run jobs again, open the execution, choose ' +
            'an earlier state in its picture, and redrive from there.',
        ))) : null;
}

// What a plan counts beside the jobs that it names: iterations to come, by Task, and items of Distributed Maps.
function furtherJobs({ more }) {
  return more.map(({ state, type, jobs }) =>
    type === 'Map' ?
      [jobs === undefined ? tr('as often as the Map has items: ') : [count(jobs, '{0} item|{0} items'), tr(' of ')],
        text(state)] : [text(state), tr(' in {0} to come', count(jobs, '{0} iteration|{0} iterations'))]
  );
}

/**
 * What a redrive would run, as `plan` answers.
 * @typedef {object} Plan
 * @property {string | null} goes_on_with
 * @property {boolean} fails_again
 * @property {boolean} at_most whether not all that is counted must run
 * @property {string[]} runs names of jobs
 * @property {number} runs_count
 * @property {{ state: string, type: string, jobs?: number }[]} more what is counted beside these
 * @property {number} kept_count
 */

/**
 * What a redrive would run, in words.
 * @param {Plan} plan
 * @param {string | null} fromState
 * @returns {Content}
 */
function planWords(plan, fromState) {
  const howMany = [plan.at_most ? tr('Up to ') : '', count(plan.runs_count, '{0} job|{0} jobs'), tr(' will run'),
    fromState ? tr(' or can run:') : ':'];
  const named = plan.runs_count - plan.more.reduce((n, m) => n + (m.jobs ?? 0), 0);
  return [
    failsAgain(plan),
    plan.runs_count > 0 ? h('p', null, h('strong', null, howMany)) :
      plan.fails_again || !plan.goes_on_with ? null :
      h('p', null, tr('It goes on with '), h('strong', null, text(plan.goes_on_with)), '.'),
    plan.runs.length + plan.more.length > 0 ? nameList(plan.runs, named, furtherJobs(plan)) : null,
    fromState || plan.kept_count === 0 ? null :
      h('p', { class: 'muted' },
        count(plan.kept_count, '{0} job that succeeded is kept.|{0} jobs that succeeded are kept.')),
  ];
}

// Redrive one execution: ask with what would run.
export async function redriveOne(id, fromState = null) {
  const from = fromState ? { from_state: fromState } : {};
  let plan = null, refusal = null;
  try {
    plan = await prepare(call('plan', { execution_id: id, ...from }));
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    refusal = error;
  }
  if (isAsking()) return null;
  if (refusal) return tell(tr('It cannot be redriven'), errorNotice(refusal));
  return confirm({
    title: fromState ? tr('Redrive from {0}?', fromState) : tr('Redrive?'),
    yes: tr('Redrive'),
    body: [h('p', null, text(id, 'id')), planWords(plan, fromState)],
    fields: fromState ?
      [field(tr('Input of the state (JSON; empty: the one that it had)'),
        h('textarea', { name: 'input', rows: '3', spellcheck: 'false' }))] : [],
    perform: values =>
      onTargets(tr('Redriven'), 'redrive', [id], { ...from, ...(values.input ? { input: values.input } : {}) }),
  });
}

// Redrive several executions; the first of them shows whether that would be of use, or why it is not known. So many
// others were chosen, too.
export async function redriveMany(ids, others = 0) {
  const plan = await prepare(call('plan', { execution_id: ids[0] }).catch(error => ({ error })));
  return confirm({
    title: tr('Redrive {0}?', count(ids.length, '{0} execution|{0} executions')),
    yes: tr('Redrive'),
    body: [
      plan.error ? errorNotice(plan.error) : null,
      failsAgain(plan, ids[0]) ??
        h('p', null,
          tr(
            'In each of them the jobs that did not succeed run again, and those after them. Jobs that ' +
              'succeeded are kept.',
          )),
      nameList(ids),
      leftOut(others,
        '{0} chosen execution runs or has succeeded, and is left out.|' +
          '{0} chosen executions run or have succeeded, and are left out.'),
    ],
    perform: () => onTargets(tr('Redriven'), 'redrive', ids, {}),
  });
}
