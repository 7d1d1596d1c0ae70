// The frame: session, navigation, and keeping the page that is shown up to date.

import * as activities from './activities.js';
import * as alerts from './alerts.js';
import { call, poll, session, signIn, signOut } from './api.js';
import * as comparison from './comparison.js';
import { h, patch, say } from './dom.js';
import * as execution from './execution.js';
import * as executions from './executions.js';
import * as health from './health.js';
import * as inbox from './inbox.js';
import * as machine from './machine.js';
import * as machines from './machines.js';
import { button, errorNotice, field, icon, queryString, text } from './parts.js';
import { hidePayloads, payloadsHidden } from './payload.js';
import * as rules from './rules.js';
import * as schedules from './schedules.js';
import * as task from './task.js';
import { chooseLanguage, language, LANGUAGES, tr } from './texts.js';
import * as tonight from './tonight.js';
import { drawTrouble, isTroubled, setTrouble, troubleOf } from './trouble.js';

const pages = { tonight, executions, execution, compare: comparison, machines, machine, schedules, rules, activities,
  inbox, task, alerts, health };
const menu = [['tonight', tr('Tonight')], ['executions', tr('Executions')], ['machines', tr('Machines')], ['schedules',
  tr('Schedules')], ['rules', tr('Rules')], ['activities', tr('Activities')], ['inbox', tr('Inbox')], ['alerts',
  tr('Alerts')], ['health', tr('Health')]];
const within = { execution: 'executions', compare: 'executions', machine: 'machines', task: 'inbox' };
const main = document.getElementById('main');

let role = null;
let shown = null; // the page: { name, module, context, data, abort }

// The page and its parameters that an address names.
function address() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  return { name: pages[name] ? name : 'tonight', argument: decode(rest.join('/')),
    query: Object.fromEntries(new URLSearchParams(query)) };
}

// The link to the content must not change the address, which names the page.
document.querySelector('.skip-link').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});

// Undo the coding of an address; one that is broken stays as it is.
function decode(coded) {
  try {
    return decodeURIComponent(coded);
  } catch {
    return coded;
  }
}

// The choice of the language.
function languageChoice() {
  return h('select', { class: 'small', 'aria-label': 'Language', lang: 'en', key: 'language',
    onchange: event => chooseLanguage(event.currentTarget.value) },
    LANGUAGES.map(([code, name]) => h('option', { value: code, lang: code, selected: code === language }, name)));
}

// Draw the bar at the top.
function drawTop() {
  const name = within[shown?.name] ?? shown?.name;
  const open = document.getElementById('menu')?.classList.contains('open');
  const bar = h('header', { id: 'top' }, role === null ? null : [
    h('a', { class: 'brand', href: '#/tonight' }, h('img', { src: 'icon.svg', alt: '', width: '22', height: '22' }),
      'sfflow'),
    button([icon('menu'), h('span', { class: 'unseen' }, tr('Menu'))], event => {
      const list = document.getElementById('menu');
      list.classList.toggle('open');
      event.currentTarget.setAttribute('aria-expanded', String(list.classList.contains('open')));
    }, { class: 'menu-button', 'aria-expanded': String(Boolean(open)), 'aria-controls': 'menu' }),
    h('nav', { id: 'menu', 'aria-label': tr('Pages'), class: open ? 'open' : '' },
      h('ul', null,
        menu.map(([page, word]) =>
          h('li', null, h('a', { href: `#/${page}`, 'aria-current': page === name ? 'page' : null }, word))
        )),
      h('div', { class: 'who' },
        h('span', { id: 'live', class: 'live', title: tr('Whether the page is kept up to date') }, liveWord()),
        button([icon('eye'), payloadsHidden() ? tr('Show payloads') : tr('Hide payloads')], () => {
          hidePayloads(!payloadsHidden());
          drawTop();
          draw();
        }, { class: 'small', 'aria-pressed': String(payloadsHidden()) }), text(role, 'role'), languageChoice(),
        button(tr('Sign out'), leave, { class: 'small' }))),
  ]);
  patch(document.getElementById('top'), bar);
}

let live = tr('Live');

// Whether the page is kept up to date, in a word.
function liveWord() {
  return live;
}

// Show whether the page is kept up to date.
function setLive(word) {
  live = word;
  const place = document.getElementById('live');
  if (place) place.textContent = word;
}

// Draw the page with the data that it has.
function draw() {
  if (!shown || role === null) return;
  const { module, context, data, error } = shown;
  let made;
  try {
    made = error ? [h('h1', { tabindex: '-1' }, module.title(context)), errorNotice(error)] :
      data === undefined ?
      [h('h1', { tabindex: '-1' }, module.title(context)),
        h('p', { class: 'muted', key: 'loading', 'data-loading': true }, tr('Loading…'))] : module.draw(data, context);
  } catch (problem) {
    made = [h('h1', { tabindex: '-1' }, module.title(context)), errorNotice(problem)];
    console.error(problem);
  }
  patch(main, h('main', { id: 'main', tabindex: '-1', class: `page-${shown.name}` }, made));
  document.title = `${module.title(context)} – sfflow`;
  if (data !== undefined && !shown.timed) {
    shown.timed = true;
    performance.measure(`drawn ${shown.name}`, { start: shown.asked, end: performance.now() });
  }
}

// What a page does with an error: wait if the database is down, else show it, unless older data is there.
function meet(error, page) {
  const trouble = troubleOf(error);
  if (trouble !== null) {
    page.error = undefined;
    setTrouble(trouble, page.at);
  } else if (page.data === undefined || error.status === 400) {
    page.error = error;
  }
  if (page.error === undefined) setLive(tr('Not reached'));
}

// Get the data of the page and draw it.
async function refresh(page) {
  try {
    const data = await page.module.load(page.context, page.data);
    if (page !== shown) return;
    const said = page.data !== undefined && page.module.news ? page.module.news(page.data, data) : '';
    page.data = data;
    page.error = undefined;
    page.at = new Date().toISOString();
    if (said) say(said);
    if (isTroubled()) setTrouble(null);
    setLive(tr('Live'));
  } catch (error) {
    if (error.name === 'AbortError' || page !== shown || role === null) return;
    meet(error, page);
  }
  draw();
}

// Show the page that the address names.
function navigate() {
  if (role === null) return;
  const { name, argument, query } = address();
  const isSame = shown?.name === name && shown.context.argument === argument;
  document.getElementById('menu')?.classList.remove('open');
  if (isSame) {
    shown.context.query = query;
  } else {
    shown?.abort.abort();
    const page = { name, module: pages[name], abort: new AbortController(), asked: performance.now() };
    page.context = {
      argument,
      query,
      role,
      state: {},
      ask: (action, request) => call(action, request, page.abort.signal),
      redraw: draw,
      reload: () => refresh(page),
      act: async question => {
        if (await question) await refresh(page);
      },
      go: changed => go(name, argument, changed),
    };
    shown = page;
    window.scrollTo(0, 0);
  }
  drawTop();
  draw();
  const page = shown;
  refresh(page).then(() => {
    pace();
    if (!isSame && page === shown && document.activeElement === document.body)
      main.querySelector('h1')?.focus({ preventScroll: true });
  });
}

// Change the query of the address.
function go(name, argument, query) {
  const to = `#/${name}${argument ? `/${encodeURIComponent(argument)}` : ''}${queryString(query)}`;
  if (to === location.hash) navigate();
  else location.hash = to;
}

// --- keeping up to date: one long poll tells what operators do; what the database does by itself is looked for now and
// then, more often while something runs. Neither happens while the page is hidden.

let polling = null;
let pacing = null;

// Wait a while.
function pause(ms) {
  return new Promise(resolve => setTimeout(resolve, ms));
}

// Look again after a while: as soon as the page that is shown wants it.
function pace() {
  clearTimeout(pacing);
  if (role === null || document.hidden) return;
  pacing = setTimeout(async () => {
    if (shown && !document.querySelector('dialog')) await refresh(shown);
    pace();
  }, isTroubled() ? 2000 : shown?.data !== undefined && shown.module.pace ? shown.module.pace(shown.data) : 15000);
}

// Keep the page up to date until it is hidden or the session ends.
async function watch() {
  if (polling) return;
  const mine = polling = new AbortController();
  let seen = null;
  let wait = 1000;
  while (polling === mine && role !== null) {
    try {
      const answer = await poll(seen, mine.signal);
      const isNews = answer.changed && seen !== null;
      seen = answer.token;
      wait = 1000;
      if (answer.down_since && shown) meet({ status: 503, downSince: answer.down_since }, shown);
      else if (!isTroubled()) setLive(tr('Live'));
      if (isNews && polling === mine && shown) {
        await refresh(shown);
        pace();
        await pause(500);
      }
    } catch (error) {
      if (polling !== mine) return;
      if (error.status === 401) break;
      setLive(tr('Not reached'));
      await pause(wait);
      wait = Math.min(wait * 2, 30000);
    }
  }
  if (polling === mine) polling = null;
}

// Stop waiting.
function rest() {
  polling?.abort();
  polling = null;
  clearTimeout(pacing);
}

document.addEventListener('visibilitychange', () => {
  if (role === null) return;
  if (document.hidden) {
    rest();
    setLive(tr('Paused'));
  } else {
    if (shown) refresh(shown).then(pace);
    watch();
  }
});

// Times on the page are relative to now, and what runs takes longer each second.
setInterval(() => {
  if (!document.hidden && shown?.data !== undefined && !document.querySelector('dialog')) draw();
  if (isTroubled()) drawTrouble();
}, 5000);

// --- session

// Show the form of the sign-in.
function drawSignIn(message) {
  role = null;
  shown?.abort.abort();
  shown = null;
  rest();
  setTrouble(null);
  drawTop();
  document.title = tr('Sign in – sfflow');
  const wrong = h('div', { role: 'alert' }, message ?? '');
  const form = h('form', { class: 'card sign-in', onsubmit: async event => {
    event.preventDefault();
    const values = new FormData(form);
    const submit = form.querySelector('button');
    submit.disabled = true;
    try {
      enter(await signIn(values.get('role'), values.get('password')));
    } catch (error) {
      wrong.replaceChildren(errorNotice(error));
      submit.disabled = false;
      form.elements.password.value = '';
      form.elements.password.focus();
    }
  } }, h('h1', null, h('img', { src: 'icon.svg', alt: '', width: '32', height: '32' }), 'sfflow'),
    h('p', { class: 'muted' }, tr('Sign in with a role of PostgreSQL. You see and may do what its rights allow.')),
    field(tr('Role'),
      h('input', { name: 'role', required: true, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false',
        maxlength: '63' })),
    field(tr('Password'),
      h('input', { name: 'password', type: 'password', required: true, autocomplete: 'current-password',
        maxlength: '1000' })), wrong, h('button', { type: 'submit', class: 'primary' }, tr('Sign in')),
    h('p', null, languageChoice()));
  patch(main, h('main', { id: 'main', tabindex: '-1', class: 'page-sign-in', key: undefined }, form));
  main.querySelector('input').focus();
}

// Begin with a role that has signed in.
function enter(name) {
  role = name;
  main.replaceChildren();
  navigate();
  watch();
}

// Sign out. What the page has asked for would be refused then.
async function leave() {
  shown?.abort.abort();
  rest();
  await signOut();
  drawSignIn();
}

window.addEventListener('hashchange', navigate);
window.addEventListener('signed-out',
  ({ detail }) =>
    drawSignIn(
      h('p', null,
        /altered/.test(detail) ? tr('The session has ended because your role was altered. Sign in again.') :
          tr('The session has ended. Sign in again.')),
    ));

session().then(name => name === null ? drawSignIn() : enter(name), error => drawSignIn(errorNotice(error)));
