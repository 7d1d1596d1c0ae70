// Talk to sfgateway: the session, the actions of sf_console_api, and the long poll.

import { tr } from './texts.js';

// The token stays with the pages of this address and port, in all tabs. Cookies are sent to all ports of a host; this
// is not.
const place = 'sfgateway-token';
let token = localStorage.getItem(place);

// Keep the token of a session, or forget it (null).
function keep(value) {
  token = value;
  if (value === null) localStorage.removeItem(place);
  else localStorage.setItem(place, value);
}

// A person is there if a key, a button or a wheel was used since the last request. Other requests are those of a page
// that keeps itself up to date: they are marked, so that the session of a page that is left alone ends.
let isThere = true;
for (const type of ['keydown', 'pointerdown', 'wheel']) {
  window.addEventListener(type, () => {
    isThere = true;
  }, { capture: true, passive: true });
}

// What went wrong, as PostgreSQL or the gateway tells it.
export class ApiError extends Error {
  constructor(status, error) {
    super(error?.message ?? tr('The server answered {0}.', status));
    this.status = status;
    this.detail = error?.detail;
    this.hint = error?.hint;
    this.sqlstate = error?.sqlstate;
    this.downSince = error?.down_since;
  }
}

// An answer may have no body, or one that is no JSON; one that has not come whole is no answer.
function noJson(error) {
  if (error.name !== 'SyntaxError') throw error;
  return null;
}

// Send a request and read the answer.
async function send(path, body, signal) {
  const how = body === undefined ? { method: 'GET' } : {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...(token ? { 'X-CSRF-Token': token } : {}),
      ...(isThere ? {} : { 'X-Background': '1' }) },
  };
  if (body !== undefined) isThere = false;
  let response, answer;
  try {
    response = await fetch(path, { ...how, signal, credentials: 'same-origin' });
    answer = await response.json().catch(noJson);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, { message: tr('The server cannot be reached.') });
  }
  if (response.ok) return answer;
  if (response.status === 401 && token) {
    keep(null);
    window.dispatchEvent(new CustomEvent('signed-out', { detail: answer?.error?.message }));
  }
  throw new ApiError(response.status, answer?.error);
}

// The role that is signed in, or null.
export async function session() {
  if (!token) return null;
  try {
    return (await send('/console/session')).role;
  } catch (error) {
    if (error.status === 401) return null;
    throw error;
  }
}

export async function signIn(role, password) {
  const answer = await send('/console/login', { role, password });
  keep(answer.csrf_token);
  return answer.role;
}

export async function signOut() {
  await send('/console/logout', {}).catch(() => null);
  keep(null);
}

// Ask for something, or do it.
export function call(action, request = {}, signal = undefined) {
  return send(`/console/api/${action}`, request, signal);
}

// Wait until something may have changed, 25 s at most.
export function poll(seen, signal) {
  return send('/console/poll', { seen }, signal);
}

// All of a text that was cut, piece by piece. Offsets count characters, not the halves of which strings consist here.
export async function whole(request) {
  const pieces = [];
  let offset = 0;
  for (;;) {
    const piece = await call('payload', { ...request, offset, limit: 1000000 });
    if (!piece || piece.text === '') return pieces.join('');
    pieces.push(piece.text);
    offset += [...piece.text].length;
    if (offset >= piece.length) return pieces.join('');
  }
}
