// Questions before something is done, and what came of it.

import { call } from './api.js';
import { h, say } from './dom.js';
import { count } from './format.js';
import { button, errorNotice, field, icon, notice, text } from './parts.js';

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
        close(null), { class: 'plain', 'aria-label': 'Close' })),
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
      h('div', null, content, h('div', { class: 'row end' }, button('Close', () =>
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
    } }, body, fields, seen, wrong, h('div', { class: 'row end' }, button('Cancel', () => close(null)), submit));
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
    all > shown.length ? h('li', { class: 'muted' }, `and ${all - shown.length} more`) : null);
}

// Say what came of an action on several targets; returns whether all went well.
function report(word, answer) {
  const wrong = answer.rows.filter(row => row.error);
  if (wrong.length === 0) {
    say(`${word}: ${count(answer.rows.length, 'target')}.`);
    return Promise.resolve(true);
  }
  const reasons = wrong.map(row => h('li', null, text(row.target), ': ', text(row.error)));
  return tell(`${count(wrong.length, 'target')} of ${answer.rows.length} refused`, true,
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
  field('Reason (kept in the audit)', h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }));

// What a plan counts beside the jobs that it names: iterations to come, by Task, and items of Distributed Maps.
function furtherJobs({ more }) {
  return more.map(({ state, type, jobs }) =>
    type === 'Map' ?
      [jobs === undefined ? 'as often as the Map has items: ' : `${count(jobs, 'item')} of `, text(state)] :
      [text(state), ` in ${count(jobs, 'iteration')} to come`]
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
  if (refused) return tell('It cannot be redriven', null, errorNotice(refused));
  const words = [plan.at_most ? 'Up to ' : '', count(plan.runs_count, 'job'), ' will run',
    fromState ? ' or can run:' : ':'];
  const named = plan.runs_count - plan.more.reduce((n, m) => n + (m.jobs ?? 0), 0);
  return confirm({
    title: fromState ? `Redrive from ${fromState}?` : 'Redrive?',
    yes: 'Redrive',
    body: [h('p', null, text(id, 'id')), failsAgain(plan),
      plan.runs_count > 0 ? h('p', null, h('strong', null, words)) :
        plan.fails_again || !plan.goes_on_with ? null :
        h('p', null, 'It goes on with ', h('strong', null, text(plan.goes_on_with)), '.'),
      plan.runs.length + plan.more.length > 0 ? names(plan.runs, 12, named, furtherJobs(plan)) : null,
      fromState || plan.kept_count === 0 ? null :
        h('p', { class: 'muted' },
          `${count(plan.kept_count, 'job')} that succeeded ${plan.kept_count === 1 ? 'is' : 'are'} kept.`)],
    fields: fromState ?
      [field('Input of the state (JSON; empty: the one that it had)',
        h('textarea', { name: 'input', rows: '3', spellcheck: 'false' }))] : [],
    act: values =>
      onTargets('Redriven', 'redrive', [id], { ...(fromState ? { from_state: fromState } : {}),
        ...(values.input ? { input: values.input } : {}) }),
  });
}

// A warning if a redrive would only repeat Fail states.
function failsAgain(plan, of = null) {
  return plan?.fails_again ?
    notice('late',
      h('p', null, of === null ? 'Only' : ['In ', text(of, 'id'), ', for example, only'],
        ' the Fail state is repeated, which fails again. ' +
          'To run jobs again, open the execution, choose an earlier state in its picture, and redrive from there.')) :
    null;
}

// What is left out of an action of several executions.
function leftOut(number, why) {
  return number > 0 ?
    h('p', { class: 'muted' },
      `${count(number, 'chosen execution')} ${why}, and ${number === 1 ? 'is' : 'are'} left out.`) : null;
}

// Redrive several executions; the first of them shows whether that would be of use. So many more were chosen.
export async function redriveMany(ids, others = 0) {
  const plan = await call('plan', { execution_id: ids[0] }).catch(() => null);
  return confirm({
    title: `Redrive ${count(ids.length, 'execution')}?`,
    yes: 'Redrive',
    body: [
      failsAgain(plan, ids[0]) ??
        h('p', null,
          'In each of them the jobs that did not succeed run again, and those after them. ' +
            'Jobs that succeeded are kept.'),
      names(ids),
      leftOut(others, others === 1 ? 'runs or has succeeded' : 'run or have succeeded'),
    ],
    act: () => onTargets('Redriven', 'redrive', ids, {}),
  });
}

// Stop executions; so many more were chosen.
export function stop(ids, others = 0) {
  return confirm({
    title: ids.length === 1 ? 'Stop the execution?' : `Stop ${count(ids.length, 'execution')}?`,
    yes: 'Stop',
    danger: true,
    body: [
      h('p', null,
        'Tasks that run in the database are cancelled and rolled back. No further job runs until a redrive.'),
      names(ids),
      leftOut(others, others === 1 ? 'has ended' : 'have ended'),
    ],
    fields: [reasonField()],
    act: values => onTargets('Stopped', 'stop', ids, values),
  });
}

// Hold executions, a machine or a state.
export function hold(targets, state = null) {
  const what = state ? 'this state' : targets.length === 1 ? 'it' : 'them';
  return confirm({
    title: state ? `Hold ${state}?` : targets.length === 1 ? 'Hold?' : `Hold ${targets.length}?`,
    yes: 'Hold',
    body: [
      h('p', null, `From then on no step of ${what} begins; what runs goes on to its end. `,
        'Nothing is lost: what would begin waits for the release.'),
      names(targets),
    ],
    fields: [reasonField()],
    act: values => onTargets('Held', 'hold', targets, { ...values, ...(state ? { state } : {}) }),
  });
}

// Release targets: each is { target, state, waiting }.
export function release(held) {
  const what = held.waiting === undefined ? 'What waits' :
    `${count(held.waiting, 'branch', 'branches')} that ${held.waiting === 1 ? 'waits' : 'wait'}`;
  return confirm({
    title: 'Release?',
    yes: 'Release',
    body: [
      h('p', null, `${what} can go on. What another hold or a limit keeps waits for that.`),
      names([held.state ? `${held.target}/${held.state}` : held.target]),
    ],
    act: () => onTargets('Released', 'release', [held.target], held.state ? { state: held.state } : {}),
  });
}

// Settle a job without its task.
export function mark(id, job) {
  return confirm({
    title: `Mark ${job}?`,
    yes: 'Mark',
    body: [
      h('p', null,
        'The job is settled without its task: when the execution comes to it, it goes on past it. ' +
          'A mark alone runs nothing; redrive a failed execution after it.'),
      names([id]),
    ],
    fields: [
      field('It counts as',
        h('select', { name: 'outcome' }, h('option', { value: 'success' }, 'success'),
          h('option', { value: 'skip' }, 'skipped'), h('option', { value: 'failure' }, 'failure'))),
      field('Result (JSON, for success; empty: its input)',
        h('textarea', { name: 'output', rows: '3', spellcheck: 'false' })),
      reasonField(),
    ],
    act: values =>
      onTargets('Marked', 'mark', [id], { job_id: job, outcome: values.outcome, reason: values.reason,
        ...(values.output ? { output: values.output } : {}) }),
  });
}

// Acknowledge alerts of executions, the latest ones of so many.
export function acknowledge(ids, kind = null, all = ids.length) {
  return confirm({
    title: ids.length === 1 ? 'Acknowledge?' :
      `Acknowledge ${all > ids.length ? `the latest ${ids.length} of ${all}` : ids.length}?`,
    yes: 'Acknowledge',
    body: [
      h('p', null, ids.length === 1 ? 'The alert goes away and stays away' : 'The alerts go away and stay away',
        ' until something new happens. Nothing runs.'),
      names(ids),
    ],
    fields: [field('Comment', h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }))],
    act: values => onTargets('Acknowledged', 'acknowledge', ids, { ...values, ...(kind ? { kind } : {}) }),
  });
}

// Start an execution.
export function start(machine) {
  return confirm({
    title: `Start ${machine}?`,
    yes: 'Start',
    body: [],
    fields: [
      field('Name (empty: by the machine)',
        h('input', { name: 'name', maxlength: '80', autocomplete: 'off', autofocus: true })),
      field('Input (JSON)', h('textarea', { name: 'input', rows: '6', spellcheck: 'false' }, '{}')),
    ],
    act: values =>
      call('start', { state_machine: machine, input: values.input || '{}',
        ...(values.name ? { name: values.name } : {}) }),
  });
}
