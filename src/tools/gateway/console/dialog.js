// Questions before something is done, and what came of it.

import { call } from './api.js';
import { h, say } from './dom.js';
import { count } from './format.js';
import { button, errorNotice, field, icon, notice, text } from './parts.js';
import { tr } from './texts.js';

// Show a dialog and wait for its end. draw(close) makes its content; the result is what close() is given.
export function dialog(title, draw) {
  return new Promise(resolve => {
    const before = document.activeElement;
    const box = h('dialog', { 'aria-labelledby': 'dialog-title' });
    const close = result => {
      box.close();
      box.remove();
      before?.focus?.();
      resolve(result);
    };
    box.addEventListener('cancel', event => {
      event.preventDefault();
      close(null);
    });
    box.append(
      h('div', { class: 'dialog-head' }, h('h2', { id: 'dialog-title' }, title), button(icon('close'), () =>
        close(null), { class: 'plain', 'aria-label': tr('Close') })),
      draw(close),
    );
    document.body.append(box);
    box.showModal();
  });
}

// Show something that there is nothing to answer to; the result is what is given.
function tell(title, result, content) {
  return dialog(title,
    close =>
      h('div', null, content, h('div', { class: 'row end' }, button(tr('Close'), () =>
        close(result), { class: 'primary' }))));
}

// Ask whether to do something, with fields; `act` gets the values of the form and does it. An error is shown in the
// dialog, which then stays. The result is what act returned, or null. `preview` gets the values after each change, and
// gives what is to be shown of them.
export function confirm({ title, body, fields = [], yes, danger = false, act, preview }) {
  return dialog(title, close => {
    const wrong = h('div', { 'aria-live': 'assertive' });
    const seen = h('div', { 'aria-live': 'polite', class: 'preview' });
    const submit = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, yes);
    const values = () => Object.fromEntries(new FormData(form));
    let waiting = null, number = 0;
    const look = async () => {
      const mine = ++number;
      const shown = await preview(values()).catch(errorNotice);
      if (mine === number) seen.replaceChildren(shown);
    };
    const form = h('form', { oninput: preview && (() => {
      clearTimeout(waiting);
      waiting = setTimeout(look, 500);
    }), onsubmit: async event => {
      event.preventDefault();
      submit.disabled = true;
      wrong.replaceChildren();
      try {
        close(await act(values()));
      } catch (error) {
        wrong.replaceChildren(errorNotice(error));
        submit.disabled = false;
      }
    } }, body, fields, seen, wrong, h('div', { class: 'row end' }, button(tr('Cancel'), () => close(null)), submit));
    queueMicrotask(() => (form.querySelector('[autofocus]') ?? submit).focus());
    if (preview) look();
    return form;
  });
}

// A field in which one of some values is chosen: each is a value, or [value, words].
export function choice(label, name, list, chosen, hint) {
  return field(label,
    h('select', { name },
      list.map(x => Array.isArray(x) ? x : [x, x]).map(([value, words]) =>
        h('option', { value, selected: value === chosen }, words)
      )), hint);
}

// A list of names, the first few of so many, after what else is to be said.
function names(list, most = 12, all = list.length, further = []) {
  const shown = list.slice(0, most);
  return h('ul', { class: 'names' }, further.map(words => h('li', null, words)), shown.map(n => h('li', null, text(n))),
    all > shown.length ? h('li', { class: 'muted' }, tr('and {0} more', all - shown.length)) : null);
}

// Say what came of an action on several targets; returns whether all went well.
function report(word, answer) {
  const wrong = answer.rows.filter(row => row.error);
  if (wrong.length === 0) {
    say(`${word}: ${count(answer.rows.length, '{0} target|{0} targets')}.`);
    return Promise.resolve(true);
  }
  const reasons = wrong.map(row => h('li', null, text(row.target), ': ', text(row.error)));
  return tell(tr('{0} of {1} refused', count(wrong.length, '{0} target|{0} targets'), answer.rows.length), true,
    h('ul', { class: 'names' }, reasons));
}

// Carry an action out on targets, and report.
export async function onTargets(word, action, targets, request) {
  const rows = [];
  for (let at = 0; at < targets.length; at += 50)
    rows.push(...(await call(action, { ...request, targets: targets.slice(at, at + 50) })).rows);
  await report(word, { rows });
  return { rows };
}

export const reasonField = () =>
  field(tr('Reason (kept in the audit)'), h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }));

// What a plan counts beside the jobs that it names: iterations to come, by Task, and items of Distributed Maps.
function furtherJobs({ more }) {
  return more.map(({ state, type, jobs }) =>
    type === 'Map' ?
      [jobs === undefined ? tr('as often as the Map has items: ') : [count(jobs, '{0} item|{0} items'), tr(' of ')],
        text(state)] : [text(state), tr(' in {0} to come', count(jobs, '{0} iteration|{0} iterations'))]
  );
}

// Redrive one execution: ask with what would run.
export async function redriveOne(id, fromState = null) {
  const request = { execution_id: id, ...(fromState ? { from_state: fromState } : {}) };
  let plan = null, refused = null;
  try {
    plan = await call('plan', request);
  } catch (error) {
    refused = error;
  }
  if (refused) return tell(tr('It cannot be redriven'), null, errorNotice(refused));
  const words = [plan.at_most ? tr('Up to ') : '', count(plan.runs_count, '{0} job|{0} jobs'), tr(' will run'),
    fromState ? tr(' or can run:') : ':'];
  const named = plan.runs_count - plan.more.reduce((n, m) => n + (m.jobs ?? 0), 0);
  return confirm({
    title: fromState ? tr('Redrive from {0}?', fromState) : tr('Redrive?'),
    yes: tr('Redrive'),
    body: [h('p', null, text(id, 'id')), failsAgain(plan),
      plan.runs_count > 0 ? h('p', null, h('strong', null, words)) :
        plan.fails_again || !plan.goes_on_with ? null :
        h('p', null, tr('It goes on with '), h('strong', null, text(plan.goes_on_with)), '.'),
      plan.runs.length + plan.more.length > 0 ? names(plan.runs, 12, named, furtherJobs(plan)) : null,
      fromState || plan.kept_count === 0 ? null :
        h('p', { class: 'muted' },
          count(plan.kept_count, '{0} job that succeeded is kept.|{0} jobs that succeeded are kept.'))],
    fields: fromState ?
      [field(tr('Input of the state (JSON; empty: the one that it had)'),
        h('textarea', { name: 'input', rows: '3', spellcheck: 'false' }))] : [],
    act: values =>
      onTargets(tr('Redriven'), 'redrive', [id], { ...(fromState ? { from_state: fromState } : {}),
        ...(values.input ? { input: values.input } : {}) }),
  });
}

// A warning if a redrive would only repeat Fail states.
function failsAgain(plan, of = null) {
  return plan?.fails_again ?
    notice('late',
      h('p', null, of === null ? null : [tr('As in '), text(of, 'id'), ': '],
        tr(
          'Only the Fail state is repeated, which fails again. To run jobs again, open the execution, choose ' +
            'an earlier state in its picture, and redrive from there.',
        ))) : null;
}

// What is left out of an action of several executions.
function leftOut(number, forms) {
  return number > 0 ? h('p', { class: 'muted' }, count(number, forms)) : null;
}

// Redrive several executions; the first of them shows whether that would be of use. So many more were chosen.
export async function redriveMany(ids, others = 0) {
  const plan = await call('plan', { execution_id: ids[0] }).catch(() => null);
  return confirm({
    title: tr('Redrive {0}?', count(ids.length, '{0} execution|{0} executions')),
    yes: tr('Redrive'),
    body: [
      failsAgain(plan, ids[0]) ??
        h('p', null,
          tr(
            'In each of them the jobs that did not succeed run again, and those after them. Jobs that ' +
              'succeeded are kept.',
          )),
      names(ids),
      leftOut(others,
        '{0} chosen execution runs or has succeeded, and is left out.|' +
          '{0} chosen executions run or have succeeded, and are left out.'),
    ],
    act: () => onTargets(tr('Redriven'), 'redrive', ids, {}),
  });
}

// Stop executions; so many more were chosen.
export function stop(ids, others = 0) {
  return confirm({
    title: ids.length === 1 ? tr('Stop the execution?') :
      tr('Stop {0}?', count(ids.length, '{0} execution|{0} executions')),
    yes: tr('Stop'),
    danger: true,
    body: [
      h('p', null,
        tr('Tasks that run in the database are cancelled and rolled back. No further job runs until a ' + 'redrive.')),
      names(ids),
      leftOut(others,
        '{0} chosen execution has ended, and is left out.|' + '{0} chosen executions have ended, and are left out.'),
    ],
    fields: [reasonField()],
    act: values => onTargets(tr('Stopped'), 'stop', ids, values),
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
      names(targets),
    ],
    fields: [reasonField()],
    act: values => onTargets(tr('Held'), 'hold', targets, { ...values, ...(state ? { state } : {}) }),
  });
}

// Release targets: each is { target, state, waiting }.
export function release(held) {
  const what = held.waiting === undefined ? tr('What waits can go on.') :
    count(held.waiting, '{0} branch that waits can go on.|{0} branches that wait can go on.');
  return confirm({
    title: tr('Release?'),
    yes: tr('Release'),
    body: [
      h('p', null, what, ' ', tr('What another hold or a limit keeps waits for that.')),
      names([held.state ? `${held.target}/${held.state}` : held.target]),
    ],
    act: () => onTargets(tr('Released'), 'release', [held.target], held.state ? { state: held.state } : {}),
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
      names([id]),
    ],
    fields: [
      field(tr('It counts as'),
        h('select', { name: 'outcome' }, h('option', { value: 'success' }, tr('success')),
          h('option', { value: 'skip' }, tr('skipped')), h('option', { value: 'failure' }, tr('failure')))),
      field(tr('Result (JSON, for success; empty: its input)'),
        h('textarea', { name: 'output', rows: '3', spellcheck: 'false' })),
      reasonField(),
    ],
    act: values =>
      onTargets(tr('Marked'), 'mark', [id], { job_id: job, outcome: values.outcome, reason: values.reason,
        ...(values.output ? { output: values.output } : {}) }),
  });
}

// Acknowledge alerts of executions, the latest ones of so many.
export function acknowledge(ids, kind = null, all = ids.length) {
  return confirm({
    title: ids.length === 1 ? tr('Acknowledge?') :
      tr('Acknowledge {0}?', all > ids.length ? tr('the latest {0} of {1}', ids.length, all) : ids.length),
    yes: tr('Acknowledge'),
    body: [
      h('p', null, ids.length === 1 ? tr('The alert goes away and stays away') : tr('The alerts go away and stay away'),
        tr(' until something new happens. Nothing runs.')),
      names(ids),
    ],
    fields: [field(tr('Comment'), h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }))],
    act: values => onTargets(tr('Acknowledged'), 'acknowledge', ids, { ...values, ...(kind ? { kind } : {}) }),
  });
}

// Start an execution.
export function start(machine) {
  return confirm({
    title: tr('Start {0}?', machine),
    yes: tr('Start'),
    body: [],
    fields: [
      field(tr('Name (empty: by the machine)'),
        h('input', { name: 'name', maxlength: '80', autocomplete: 'off', autofocus: true })),
      field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '6', spellcheck: 'false' }, '{}')),
    ],
    act: values =>
      call('start', { state_machine: machine, input: values.input || '{}',
        ...(values.name ? { name: values.name } : {}) }),
  });
}
