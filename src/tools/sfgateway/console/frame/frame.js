// The frame: which page is shown, what it asks for, and when it is asked for again.

import { call } from '../base/api.js';
import { h, patch, say } from '../base/dom.js';
import { addressOf } from '../base/links.js';
import { cancelDialogs, isAsking, tellError } from '../element/dialog.js';
import { errorNotice } from '../element/errors.js';
import { hidePayloads, payloadsHidden } from '../element/payload.js';
import { tr } from '../language/texts.js';
import { PAGES, readAddress } from './pages.js';
import { setLive, updateTopBar } from './top_bar.js';
import { databaseDown, forgetTrouble, isTroubled, setTrouble, troubleOf } from './trouble.js';

const USUAL_PACE = 15000, PACE_IN_TROUBLE = 2000; // milliseconds between two looks

export const main = document.getElementById('main');

let role = null; // null: nobody is signed in, and no page is shown

/**
 * The page that is shown. Its data, or error, are of the address and request that shownAddress and shownRequest tell.
 * @type {{ name: string, module: Record<string, any>, context: Record<string, any>, abort: Record<string, any>,
 *   openedAt: number, afterDraw: (() => void)[], address?: string, requests: number, data?: any, error?: Error,
 *   shownAddress?: string, shownRequest: number, shownAt?: number } | null} */
let shown = null;

let nextLook = null; // the timer

// Show pages to a role that has signed in; signOut is what a button does.
export function openFrame(name, signOut) {
  role = name;
  main.replaceChildren();
  updateTopBar({ role, signOut, togglePayloads });
  showAddressed();
}

// Show no page any more: what it has asked for would be refused.
export function closeFrame() {
  role = null;
  shown?.abort.abort();
  shown = null;
  clearTimeout(nextLook);
  cancelDialogs();
  forgetTrouble();
  updateTopBar({ role });
}

// Hide the payloads of all pages, or show them.
function togglePayloads() {
  hidePayloads(!payloadsHidden());
  updateTopBar({});
  draw();
}

// --- drawing

// The elements of a page that has no data: its title, and why.
function withoutData(page, reason) {
  return [h('h1', { tabindex: '-1' }, page.module.title(page.context)), reason];
}

// The elements of a page.
function elementsOf(page) {
  if (page.error) return withoutData(page, errorNotice(page.error));
  if (page.data === undefined)
    return withoutData(page, h('p', { class: 'muted', key: 'loading', 'data-loading': true }, tr('Loading…')));
  return page.module.draw(page.data, page.context);
}

// Bring the elements of a page to the window.
function drawElements(page, elements) {
  patch(main, h('main', { id: 'main', tabindex: '-1', class: `page-${page.name}` }, elements));
}

// Draw the page with the data that it has. What it cannot be drawn with, now or when patch() makes what was left for
// later, is shown in its place.
function draw() {
  if (shown === null) return;
  try {
    drawElements(shown, elementsOf(shown));
  } catch (problem) {
    console.error(problem);
    shown.afterDraw = [];
    drawElements(shown, withoutData(shown, errorNotice(problem)));
  }
  document.title = `${shown.module.title(shown.context)} – sfflow`;
  if (shown.data !== undefined) measureFirst(shown);
  runAfterDraw(shown);
}

// Do what the page has left until its elements have their positions in the window.
function runAfterDraw(page) {
  const steps = page.afterDraw.splice(0);
  if (steps.length === 0) return;
  requestAnimationFrame(() => {
    if (page === shown) { for (const step of steps) step(); }
  });
}

// Measure how long it took until a page showed its data for the first time.
function measureFirst(page) {
  if (page.isMeasured) return;
  page.isMeasured = true;
  performance.measure(`drawn ${page.name}`, { start: page.openedAt, end: performance.now() });
}

// Draw the page anew for the times on it: they are relative to now, and what runs takes longer each second.
export function drawTimes() {
  if (shown?.data !== undefined && !isAsking()) draw();
}

// --- asking

// Wait, and tell what is wrong.
function meetTrouble(trouble, page) {
  setTrouble(trouble, page.shownAt);
  if (page.error?.status >= 500) page.error = undefined;
  setLive(tr('Not reached'));
}

// What a page does with an error: wait if the database is down, else show it. Where the server has failed, or the
// question met another one's change, older data of the same address stays until it is asked for again. Only an answer
// of the server tells that the database is back.
function meetError(error, page) {
  const trouble = troubleOf(error);
  if (trouble !== null) return meetTrouble(trouble, page);
  if (isTroubled() && error.status !== undefined && error.status !== 503) setTrouble(null);
  const isPassing = error.status === 409 || error.status >= 500;
  const isKept = isPassing && page.shownAddress === page.address;
  if (!isKept) page.error = error;
  setLive(isKept || isTroubled() ? tr('Not reached') : tr('Live'));
}

// Take the data of an answer.
function takeData(data, page, address, request) {
  const announced = page.data !== undefined && page.module.news ? page.module.news(page.data, data) : '';
  Object.assign(page, { data, error: undefined, shownAddress: address, shownRequest: request,
    shownAt: new Date().toISOString() });
  if (announced) say(announced);
  if (isTroubled()) setTrouble(null);
  setLive(tr('Live'));
}

// Get the data of a page and draw it. Answers overtake each other: one of a former address, or one that was asked for
// before the one that is shown, is dropped.
async function refresh(page) {
  const { address } = page;
  const request = ++page.requests;
  const isLate = () => page !== shown || address !== page.address || request < page.shownRequest;
  try {
    const data = await page.module.load(page.context, page.data);
    if (isLate()) return;
    takeData(data, page, address, request);
  } catch (error) {
    if (error.name === 'AbortError' || isLate()) return;
    meetError(error, page);
  }
  try {
    draw();
  } finally {
    scheduleLook();
  }
}

// Get the data of the page that is shown.
export async function refreshShown() {
  if (shown !== null) await refresh(shown);
}

// Tell that the database is down, since when.
export function meetDown(downSince) {
  if (shown !== null) meetTrouble(databaseDown(downSince), shown);
}

// Look again after a while: as soon as the page that is shown wants it.
function scheduleLook() {
  clearTimeout(nextLook);
  if (shown === null || document.hidden) return;
  const wanted = shown.data === undefined ? undefined : shown.module.pace?.(shown.data);
  nextLook = setTimeout(() => isAsking() ? scheduleLook() : refreshShown(),
    isTroubled() ? PACE_IN_TROUBLE : wanted ?? USUAL_PACE);
}

// Do not look again until the page is asked for.
export function stopLooking() {
  clearTimeout(nextLook);
}

// --- going from page to page

// Await the answer of a question, and bring the page up to date if something was done; an error is told, but not that
// the question was not asked, or that the session is over, which "signed-out" has told.
async function awaitAnswer(question, page) {
  try {
    if (await question) await refresh(page);
  } catch (error) {
    if (role !== null && error.name !== 'AbortError' && error.status !== 401) await tellError(error);
  }
}

// Go to an address, unless the user has left the page from which that is asked for. This is the one place from which
// addresses are changed, and test/lint/javascript knows it.
function leaveTo(page, address) {
  if (page !== shown) return;
  if (address === location.hash) showAddressed();
  else location.hash = address;
}

// Begin with a page.
function openPage(name, argument) {
  const page = { name, module: PAGES[name], abort: new AbortController(), openedAt: performance.now(), requests: 0,
    shownRequest: 0, afterDraw: [] };
  page.context = {
    argument,
    role,
    kept: {},
    ask: (action, request) => call(action, request, page.abort.signal),
    redraw: () => {
      if (page === shown) draw();
    },
    afterDraw: step => page.afterDraw.push(step),
    reload: () => refresh(page),
    refreshAfter: question => awaitAnswer(question, page),
    go: query => leaveTo(page, addressOf(name, argument, query)),
    leaveFor: address => leaveTo(page, address),
  };
  return page;
}

// Show the page that the address names.
export async function showAddressed() {
  if (role === null) return;
  const { name, argument, query } = readAddress(location.hash);
  const isSame = shown?.name === name && shown.context.argument === argument;
  if (!isSame) {
    shown?.abort.abort();
    cancelDialogs();
    shown = openPage(name, argument);
    window.scrollTo(0, 0);
  }
  const page = shown;
  page.context.query = query;
  if (page.address !== location.hash) page.error = undefined;
  page.address = location.hash;
  updateTopBar({ page: name, isMenuOpen: false });
  draw();
  await refresh(page);
  if (!isSame && page === shown && document.activeElement === document.body)
    main.querySelector('h1')?.focus({ preventScroll: true });
}
