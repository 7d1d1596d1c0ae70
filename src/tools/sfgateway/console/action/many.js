// Actions on all executions that a filter has: counted first, then done page by page, each page in a transaction of its
// own. Where it was stopped or broke off, it goes on.

import { call } from '../base/api.js';
import { h, say } from '../base/dom.js';
import { count, grouped } from '../base/format.js';
import { text } from '../base/values.js';
import { button, choice, field, reasonField } from '../element/controls.js';
import { dialog } from '../element/dialog.js';
import { errorNotice } from '../element/errors.js';
import { readLabels } from '../element/labels.js';
import { tr } from '../language/texts.js';

// The actions: { name, words: for its button, done: for what it has done, isFor: words for which executions,
// hasReason, hasLabels: whether it takes them }.
const ACTIONS = [
  { name: 'stop', words: tr('Stop'), done: tr('Stopped'), isFor: tr('Only those that run.'), hasReason: true },
  { name: 'redrive', words: tr('Redrive'), done: tr('Redriven'),
    isFor: tr('Only those that failed, timed out or were stopped.'), hasReason: false },
  { name: 'hold', words: tr('Hold'), done: tr('Held'), isFor: tr('Only those that run.'), hasReason: true },
  { name: 'release', words: tr('Release'), done: tr('Released'), isFor: tr('Only those that are held.'),
    hasReason: false },
  { name: 'set_labels', words: tr('Set labels'), done: tr('Labelled'), isFor: tr('All of them.'), hasReason: false,
    hasLabels: true },
];

// The action of a name.
function actionOf(name) {
  return ACTIONS.find(action => action.name === name);
}

// So many refusals are listed.
const MOST_REFUSALS = 20;

/**
 * To how many executions an action would be done.
 * @typedef {object} Matches
 * @property {number} n
 * @property {number} looked at how many
 * @property {number} not_for how many are left out, since it is not for them
 * @property {number} no_right how many, since the role has no right
 * @property {string} [until] when
 * @property {boolean} [isWhole]
 */

/**
 * How far an action has come.
 * @typedef {object} Progress
 * @property {string} [key] where it goes on
 * @property {number} done
 * @property {number} refused how many
 * @property {{ target: string, error: string }[]} refusals the first of these
 * @property {boolean} stopped
 */

// Count the Matches of an action, until progress.stopped; `show` gets them after each page.
async function countMatches(filter, action, progress, show) {
  const sum = { n: 0, looked: 0, not_for: 0, no_right: 0, until: undefined };
  let key;
  do {
    const page = await call('count_matches', { ...filter, act: action.name, key });
    for (const name of ['n', 'looked', 'not_for', 'no_right']) sum[name] += page[name];
    sum.until ??= page.until;
    key = page.next;
    show(sum, key);
  } while (key && !progress.stopped);
  return { ...sum, isWhole: !key };
}

// Do it, page by page, from where its Progress has come to.
async function actOnMatches(request, progress, show) {
  do {
    const page = await call('act_on_matches', { ...request, key: progress.key });
    progress.done += page.done;
    progress.refused += page.refused.length;
    progress.refusals.push(...page.refused.slice(0, MOST_REFUSALS - progress.refusals.length));
    progress.key = page.next;
    show();
  } while (progress.key && !progress.stopped);
}

// What a count says.
function countWords({ n, looked, not_for, no_right }, isGoingOn) {
  return [
    h('p', null, h('strong', null, count(n, '{0} execution|{0} executions')), isGoingOn ? tr(' so far') : '',
      tr(', of '), count(looked, '{0} execution|{0} executions'), tr(' looked at.')),
    not_for > 0 ?
      h('p', { class: 'muted' }, tr('Left out, since it is not for them: '),
        count(not_for, '{0} execution|{0} executions')) : null,
    no_right > 0 ?
      h('p', { class: 'muted' }, tr('Left out, since your role has no right: '),
        count(no_right, '{0} execution|{0} executions')) : null,
  ];
}

// What was refused, and why.
function refusals(progress) {
  return progress.refused === 0 ? null :
    h('div', null, h('p', null, tr('Refused: '), count(progress.refused, '{0} execution|{0} executions')),
      h('ul', { class: 'names' }, progress.refusals.map(r => h('li', null, text(r.target), ': ', text(r.error))),
        progress.refused > progress.refusals.length ?
          h('li', { class: 'muted' }, `+${progress.refused - progress.refusals.length}`) : null));
}

// The second step: progress, which can be stopped and goes on. A dialog that is closed stops it, too.
async function run(title, done, request, total) {
  const progress = { key: undefined, done: 0, refused: 0, refusals: [], stopped: false };
  await dialog(title, close => progressView(title, done, request, total, progress, close));
  progress.stopped = true;
}

// What the dialog of the progress has.
function progressView(title, done, request, total, progress, close) {
  const bar = h('progress', { max: String(Math.max(total, 1)), value: '0', 'aria-label': title });
  const words = h('p', { 'aria-live': 'polite' });
  const problems = h('div', { 'aria-live': 'assertive' });
  const buttons = h('div', { class: 'row end' });
  const offer = (...list) => {
    buttons.replaceChildren(...list);
    buttons.lastChild.focus();
  };
  const show = () => {
    bar.value = progress.done + progress.refused;
    words.textContent = `${done}: ${count(progress.done, '{0} execution|{0} executions')} / ${grouped(total)}`;
  };
  const work = async () => {
    progress.stopped = false;
    problems.replaceChildren();
    offer(button(tr('Stop'), () => {
      progress.stopped = true;
    }));
    let isBroken = false;
    try {
      await actOnMatches(request, progress, show);
    } catch (error) {
      isBroken = true;
      problems.append(errorNotice(error));
    }
    const isOver = !isBroken && !progress.key;
    if (progress.refused > 0) problems.append(refusals(progress));
    if (isOver) bar.value = bar.max;
    say(words.textContent);
    const leave = button(tr('Close'), () => close(true), { class: isOver ? 'primary' : '' });
    offer(...(isOver ? [leave] : [leave, button(tr('Go on'), work, { class: 'primary' })]));
  };
  show();
  queueMicrotask(work);
  return h('div', { class: 'many' }, bar, words, problems, buttons);
}

// Count anew for the action that the form has, and show the count in it. `counting` is { progress: that of the count
// that is under way, counted: its result, once it is whole }.
async function recount(filter, form, { preview, submit, isFor, reason, labels }, counting) {
  const action = actionOf(form.elements.act.value);
  counting.progress.stopped = true;
  const progress = { stopped: false };
  const isCurrent = () => progress === counting.progress;
  Object.assign(counting, { progress, counted: null });
  submit.disabled = true;
  submit.textContent = action.words;
  isFor.textContent = action.isFor;
  reason.hidden = !action.hasReason;
  labels.hidden = !action.hasLabels;
  try {
    const sum = await countMatches(filter, action, progress, (known, more) => {
      if (isCurrent()) preview.replaceChildren(h('div', null, countWords(known, more)));
    });
    if (!isCurrent() || !sum.isWhole) return;
    counting.counted = sum;
    submit.disabled = sum.n === 0;
    submit.textContent = `${action.words}: ${grouped(sum.n)}`;
  } catch (error) {
    if (isCurrent()) preview.replaceChildren(errorNotice(error));
  }
}

// What is asked before: an action, its reason or its labels, and to how many executions it would be done. The dialog is
// left with { action, counted, reason, labels }; fields that the action does not have count for nothing.
function question(filter, isOfNodes, counting, close) {
  const parts = {
    preview: h('div', { 'aria-live': 'polite', class: 'preview' }),
    submit: h('button', { type: 'submit', class: 'danger', disabled: true }, tr('Stop')),
    isFor: h('p', { class: 'muted' }),
    reason: reasonField(),
    labels: field(tr('Labels'),
      h('input', { name: 'labels', autocomplete: 'off', placeholder: 'tenant=acme, order=17' }),
      tr('A name without a value removes the label.')),
  };
  const problem = h('div', { 'aria-live': 'assertive' });
  const answer = event => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    const action = actionOf(values.act);
    try {
      close({ action, counted: counting.counted, reason: action.hasReason && values.reason ? values.reason : undefined,
        labels: action.hasLabels ? labelsToSet(values.labels) : undefined });
    } catch (error) {
      problem.replaceChildren(errorNotice(error));
    }
  };
  const form = h('form', { onsubmit: answer },
    isOfNodes ? h('p', null, tr('Executions of other nodes are left out.')) : null,
    choice(tr('Action'), 'act', ACTIONS.map(({ name, words }) => [name, words]), 'stop'), parts.isFor, parts.reason,
    parts.labels, parts.preview, problem,
    h('div', { class: 'row end' }, button(tr('Cancel'), () => close(null)), parts.submit));
  const countAnew = () => recount(filter, form, parts, counting);
  form.elements.act.addEventListener('change', countAnew);
  queueMicrotask(() => {
    form.elements.act.focus();
    countAnew();
  });
  return form;
}

// Labels as a request has them: null removes one.
function labelsToSet(written) {
  return Object.fromEntries(
    Object.entries(readLabels(written) ?? {}).map(([name, value]) => [name, value === '' ? null : value]),
  );
}

// Ask what to do with all executions that a filter has, count them, and do it. The result is whether anything was done.
// Of several nodes it is for the executions of this database.
export async function actOnAll(filter, isOfNodes) {
  const counting = { progress: { stopped: true }, counted: null };
  const answer = await dialog(tr('All that the filter has'), close => question(filter, isOfNodes, counting, close));
  counting.progress.stopped = true;
  if (!answer) return false;
  const { action, counted, reason, labels } = answer;
  const before = filter.before && new Date(filter.before) < new Date(counted.until) ? filter.before : counted.until;
  const request = { ...filter, act: action.name, reason, before, set_labels: labels };
  await run(`${action.words}: ${grouped(counted.n)}`, action.done, request, counted.n);
  return true;
}
