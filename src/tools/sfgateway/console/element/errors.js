// Errors, of executions and of the server: their names, causes and hints.

import { h } from '../base/dom.js';
import { readCause, visible } from '../base/format.js';
import { addressOf } from '../base/links.js';
import { text, time } from '../base/values.js';
import { tr } from '../language/texts.js';
import { notice } from './blocks.js';

/** @import { ApiError } from '../base/api.js' */
/** @import { Content } from '../base/dom.js' */
/** @import { Cause, Doc } from '../base/format.js' */

/**
 * An item of a Distributed Map that failed.
 * @typedef {{ execution_id: string, name: string, error: string | null, cause: Doc | null }} FailedItem
 */

// The name of an error. Lines break behind its signs and between its words, within a piece only if that is very long.
export function errorName(value) {
  const pieces = visible(String(value)).match(/\p{Lu}{0,12}[^\p{Lu}\s_.:/-]{0,18}[\s_.:/-]{0,4}/gu).filter(piece =>
    piece !== ''
  );
  return h('code', { class: 'error' }, h('bdi', null, pieces.map((piece, n) => (n === 0 ? piece : [h('wbr'), piece]))));
}

/**
 * An error and, if the cause was not cut, its message.
 * @param {string | null} error
 * @param {Doc | string | null} [cause]
 * @returns {Content}
 */
export function errorSummary(error, cause) {
  const { message } = cause?.cut ? {} : readCause(cause);
  return [errorName(error ?? '–'),
    message ? [' ', text(message.length > 200 ? `${message.slice(0, 200)}…` : message, 'muted')] : null];
}

/**
 * The parts of a cause, as readCause() gives them, below each other; the hint of an error says what to do.
 * @param {Cause} cause
 * @returns {Content}
 */
export function causeLines({ message, detail, hint }) {
  return [message ? h('p', { class: 'message' }, text(message)) : null,
    detail ? h('p', { class: 'muted message' }, text(detail)) : null,
    hint ? h('p', { class: 'muted message hint' }, tr('Hint: '), text(hint)) : null];
}

/**
 * The item of a Distributed Map for which an execution failed.
 * @param {FailedItem | null | undefined} item
 * @returns {Content}
 */
export function failedItem(item) {
  return item ?
    h('p', { class: 'message' }, tr('Such as '),
      h('a', { href: addressOf('execution', item.execution_id), class: 'id' }, text(tr('item {0}', item.name))), ': ',
      errorSummary(item.error, item.cause)) : null;
}

/**
 * An error of the server.
 * @param {Error & Partial<ApiError>} error
 * @returns {HTMLElement}
 */
export function errorNotice(error) {
  return notice('bad',
    h('p', null, text(error.message), error.downSince ? [tr(': it is down since '), time(error.downSince)] : null),
    error.detail ? h('p', { class: 'muted' }, text(error.detail)) : null,
    error.hint ? h('p', { class: 'muted' }, text(error.hint)) : null);
}
