// Talk to sfgateway: the session, the actions of sf_console_api, and the long poll.

import { tr } from '../language/texts.js';

// The CSRF token stays with the pages of this address and port, in all tabs. Cookies are sent to all ports of a host;
// this is not.
const TOKEN_KEY = 'sfgateway-token';
const LOGIN = '/console/login';
let csrfToken = localStorage.getItem(TOKEN_KEY);
let hasNodes = false; // in answers of the session

// Keep the token of a session, or forget it (null).
function keepToken(value) {
  csrfToken = value;
  hasNodes = false;
  if (value === null) localStorage.removeItem(TOKEN_KEY);
  else localStorage.setItem(TOKEN_KEY, value);
}

// A sign-in or a sign-out in another tab counts for this one, too: the browser has one cookie for both.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== TOKEN_KEY || newValue === csrfToken) return;
  const isOver = csrfToken !== null && newValue === null;
  csrfToken = newValue;
  if (isOver) window.dispatchEvent(new CustomEvent('signed-out'));
  else location.reload();
});

// Whether a key, a button or a wheel was used since the last request: then a person is there. Other requests are those
// of a page that keeps itself up to date: they are marked, so that the session of a page that is left alone ends.
let wasUsed = true;
for (const type of ['keydown', 'pointerdown', 'wheel']) {
  window.addEventListener(type, () => {
    wasUsed = true;
  }, { capture: true, passive: true });
}

/**
 * The error of an answer.
 * @typedef {object} ErrorAnswer
 * @property {string} message
 * @property {string} [detail]
 * @property {string} [hint]
 * @property {string} [sqlstate]
 * @property {string} [pointer] the pointer into the answer of a task that does not fit its form
 * @property {string} [problem] what is wrong there
 * @property {string} [down_since] since when the database is down
 */

// What went wrong, as PostgreSQL or the gateway tells it.
export class ApiError extends Error {
  /**
   * @param {number} status of HTTP; 0: there was no answer
   * @param {ErrorAnswer} [error]
   */
  constructor(status, error) {
    super(error?.message ?? tr('The server answered {0}.', status));
    this.status = status;
    this.detail = error?.detail;
    this.hint = error?.hint;
    this.sqlstate = error?.sqlstate;
    this.pointer = error?.pointer;
    this.problem = error?.problem;
    this.downSince = error?.down_since;
  }
}

// Take an answer without a body, or with one that is no JSON, for null; one that has not come whole is no answer.
function nullIfNoJson(error) {
  if (error.name !== 'SyntaxError') throw error;
  return null;
}

// Send a request and read the answer. That its session is over says nothing of one that has begun since.
async function send(path, body, signal) {
  const token = csrfToken;
  const options = body === undefined ? { method: 'GET' } : {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...(token ? { 'X-CSRF-Token': token } : {}),
      ...(wasUsed ? {} : { 'X-Background': '1' }) },
  };
  if (body !== undefined) wasUsed = false;
  let response, answer;
  try {
    response = await fetch(path, { ...options, signal, credentials: 'same-origin' });
    answer = await response.json().catch(nullIfNoJson);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, { message: tr('The server cannot be reached.') });
  }
  if (response.ok) return answer;
  if (response.status === 401 && token && token === csrfToken && path !== LOGIN) {
    keepToken(null);
    window.dispatchEvent(new CustomEvent('signed-out', { detail: answer?.error?.reason }));
  }
  throw new ApiError(response.status, answer?.error);
}

// The role that is signed in, or null. That the session has ended is an error, which "signed-out" has told before.
export async function session() {
  return csrfToken ? (await send('/console/session')).role : null;
}

// Sign in; gives the role.
export async function signIn(role, password) {
  const answer = await send(LOGIN, { role, password });
  keepToken(answer.csrf_token);
  return answer.role;
}

// Sign out; here also when the server is not reached, which is an error.
export async function signOut() {
  try {
    await send('/console/logout', {});
  } finally {
    keepToken(null);
  }
}

// Whether answers of the session had rows of several nodes.
export function isOverNodes() {
  return hasNodes;
}

/**
 * Ask for something, or do it.
 * @param {string} action
 * @param {object} [request]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
export async function call(action, request = {}, signal = undefined) {
  const answer = await send(`/console/api/${action}`, request, signal);
  hasNodes ||= Boolean(answer?.nodes_missing);
  return answer;
}

/**
 * Wait until something may have changed since an answer, of which `seen` is the token, 25 s at most.
 * @param {string | null} seen
 * @param {AbortSignal} signal
 * @returns {Promise<{ token: string, changed: boolean, down_since?: string }>}
 */
export function poll(seen, signal) {
  return send('/console/poll', { seen }, signal);
}

// All of a text that was cut, piece by piece. That it is not wanted any more is an AbortError. Offsets count
// characters, not the halves of which strings consist here.
export async function fetchWhole(request, isWanted) {
  const pieces = [];
  let offset = 0;
  for (;;) {
    const piece = await call('payload', { ...request, offset, limit: 1000000 });
    if (!isWanted()) throw new DOMException('', 'AbortError');
    if (!piece || piece.text === '') return pieces.join('');
    pieces.push(piece.text);
    offset += [...piece.text].length;
    if (offset >= piece.length) return pieces.join('');
  }
}
