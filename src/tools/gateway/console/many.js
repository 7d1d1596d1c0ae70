// Actions on all executions that a filter has: counted first, then done page by page, each page in a transaction of its
// own. Where it was stopped or broke off, it goes on.

import { call } from './api.js';
import { choice, dialog, reasonField } from './dialog.js';
import { h, say } from './dom.js';
import { count, grouped } from './format.js';
import { button, errorNotice, field, readLabels, text } from './parts.js';
import { tr } from './texts.js';

const ACTS = [
  ['stop', tr('Stop'), tr('Stopped'), tr('Only those that run.')],
  ['redrive', tr('Redrive'), tr('Redriven'), tr('Only those that failed, timed out or were stopped.')],
  ['hold', tr('Hold'), tr('Held'), tr('Only those that run.')],
  ['release', tr('Release'), tr('Released'), tr('Only those that are held.')],
  ['set_labels', tr('Set labels'), tr('Labelled'), tr('All of them.')],
];

// So many refusals are listed.
const MOST_REFUSALS = 20;

// Count to how many executions an action would be done; `show` gets what is known after each page.
async function countMatches(filter, act, job, show) {
  const sum = { n: 0, looked: 0, not_for: 0, no_right: 0, until: undefined };
  let key;
  do {
    const page = await call('count_matches', { ...filter, act, key });
    for (const name of ['n', 'looked', 'not_for', 'no_right']) sum[name] += page[name];
    sum.until ??= page.until;
    key = page.next;
    show(sum, key);
  } while (key && !job.stopped);
  return { ...sum, whole: !key };
}

// Do it, page by page, from where it has come to.
async function actOnMatches(request, job, show) {
  do {
    const page = await call('act_on_matches', { ...request, key: job.key });
    job.done += page.done;
    job.refused += page.refused.length;
    job.refusals.push(...page.refused.slice(0, MOST_REFUSALS - job.refusals.length));
    job.key = page.next;
    show();
  } while (job.key && !job.stopped);
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
function refusals(job) {
  return job.refused === 0 ? null :
    h('div', null, h('p', null, tr('Refused: '), count(job.refused, '{0} execution|{0} executions')),
      h('ul', { class: 'names' }, job.refusals.map(r => h('li', null, text(r.target), ': ', text(r.error))),
        job.refused > job.refusals.length ? h('li', { class: 'muted' }, `+${job.refused - job.refusals.length}`) :
          null));
}

// The second step: progress, which can be stopped and goes on. A dialog that is closed stops it, too.
async function run(title, done, request, total) {
  const job = { key: undefined, done: 0, refused: 0, refusals: [], stopped: false };
  await dialog(title, close => {
    const bar = h('progress', { max: String(Math.max(total, 1)), value: '0', 'aria-label': title });
    const words = h('p', { 'aria-live': 'polite' });
    const wrong = h('div', { 'aria-live': 'assertive' });
    const buttons = h('div', { class: 'row end' });
    const offer = (...list) => {
      buttons.replaceChildren(...list);
      buttons.lastChild.focus();
    };
    const show = () => {
      bar.value = job.done + job.refused;
      words.textContent = `${done}: ${count(job.done, '{0} execution|{0} executions')} / ${grouped(total)}`;
    };
    const work = async () => {
      job.stopped = false;
      wrong.replaceChildren();
      offer(button(tr('Stop'), () => {
        job.stopped = true;
      }));
      let isBroken = false;
      try {
        await actOnMatches(request, job, show);
      } catch (error) {
        isBroken = true;
        wrong.append(errorNotice(error));
      }
      const isOver = !isBroken && !job.key;
      if (job.refused > 0) wrong.append(refusals(job));
      if (isOver) bar.value = bar.max;
      say(words.textContent);
      const leave = button(tr('Close'), () => close(true), { class: isOver ? 'primary' : '' });
      offer(...(isOver ? [leave] : [leave, button(tr('Go on'), work, { class: 'primary' })]));
    };
    show();
    queueMicrotask(work);
    return h('div', { class: 'many' }, bar, words, wrong, buttons);
  });
  job.stopped = true;
}

// Ask what to do with all executions that a filter has, count them, and do it. The result is whether anything was done.
export async function actOnAll(filter) {
  let job = { stopped: true };
  const chosen = await dialog(tr('All that the filter has'), close => {
    let counted = null;
    const seen = h('div', { 'aria-live': 'polite', class: 'preview' });
    const submit = h('button', { type: 'submit', class: 'danger', disabled: true }, tr('Stop'));
    const only = h('p', { class: 'muted' });
    const reason = reasonField();
    const labels = field(tr('Labels'),
      h('input', { name: 'labels', autocomplete: 'off', placeholder: 'tenant=acme, order=17' }),
      tr('A name without a value removes the label.'));
    const look = async () => {
      const act = ACTS.find(([name]) => name === form.elements.act.value);
      job.stopped = true;
      const mine = job = { stopped: false };
      counted = null;
      submit.disabled = true;
      submit.textContent = act[1];
      only.textContent = act[3];
      reason.hidden = act[0] === 'set_labels' || act[0] === 'redrive' || act[0] === 'release';
      labels.hidden = act[0] !== 'set_labels';
      try {
        const sum = await countMatches(filter, act[0], mine, (known, more) => {
          if (mine === job) seen.replaceChildren(h('div', null, countWords(known, more)));
        });
        if (mine !== job || !sum.whole) return;
        counted = sum;
        submit.disabled = sum.n === 0;
        submit.textContent = `${act[1]}: ${grouped(sum.n)}`;
      } catch (error) {
        if (mine === job) seen.replaceChildren(errorNotice(error));
      }
    };
    const form = h('form', { onsubmit: event => {
      event.preventDefault();
      const values = Object.fromEntries(new FormData(form));
      const act = ACTS.find(([name]) => name === values.act);
      const set = readLabels(values.labels) ?? {};
      close({ act, counted, reason: values.reason || undefined,
        labels: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, value === '' ? null : value])) });
    } }, choice(tr('Action'), 'act', ACTS.map(([name, word]) => [name, word]), 'stop'), only, reason, labels, seen,
      h('div', { class: 'row end' }, button(tr('Cancel'), () => close(null)), submit));
    form.elements.act.addEventListener('change', look);
    queueMicrotask(() => {
      form.elements.act.focus();
      look();
    });
    return form;
  });
  job.stopped = true;
  if (!chosen) return false;
  const { act: [act, word, done], counted, reason, labels } = chosen;
  const before = filter.before && new Date(filter.before) < new Date(counted.until) ? filter.before : counted.until;
  const request = { ...filter, act, reason, before, ...(act === 'set_labels' ? { set_labels: labels } : {}) };
  await run(`${word}: ${grouped(counted.n)}`, done, request, counted.n);
  return true;
}
