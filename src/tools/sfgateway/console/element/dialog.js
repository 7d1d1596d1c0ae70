// Dialogs: questions with a form and a preview, and what is to be read.

import { h } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';
import { button } from './controls.js';
import { errorNotice } from './errors.js';

/** @import { Content } from '../base/dom.js' */

let dialogsMade = 0;
let pagesLeft = 0;

/**
 * Show a dialog and wait for its end. draw(close) makes its content; the result is what close() is given first. One
 * that is left without an answer has the result of cancelled().
 * @param {string} title
 * @param {(close: (result: any) => void) => Node} draw
 * @param {() => any} [cancelled]
 * @returns {Promise<any>}
 */
export function dialog(title, draw, cancelled = () => null) {
  return new Promise(resolve => {
    const before = document.activeElement;
    const titleId = `dialog-title-${++dialogsMade}`; // one can lie above another
    const box = h('dialog', { 'aria-labelledby': titleId });
    const close = result => {
      if (!box.open) return;
      box.close();
      box.remove();
      before?.focus?.();
      resolve(result);
    };
    box.addEventListener('cancel', event => {
      event.preventDefault();
      close(cancelled());
    });
    box.append(
      h('div', { class: 'dialog-head' }, h('h2', { id: titleId }, text(title)), button(icon('close'), () =>
        close(cancelled()), { class: 'plain', 'aria-label': tr('Close') })),
      draw(close),
    );
    document.body.append(box);
    box.showModal();
  });
}

// Whether a dialog is open.
export function isAsking() {
  return document.querySelector('dialog') !== null;
}

/**
 * Await what a question has to know before it is asked. Where the user leaves its page meanwhile, it is not asked: that
 * is an AbortError.
 * @template T
 * @param {Promise<T>} loading
 * @returns {Promise<T>}
 */
export async function prepare(loading) {
  const before = pagesLeft;
  const settled = await Promise.allSettled([loading]);
  if (before !== pagesLeft) throw new DOMException('', 'AbortError');
  if (settled[0].status === 'rejected') throw settled[0].reason;
  return settled[0].value;
}

// Leave all dialogs without an answer, for their page is left.
export function cancelDialogs() {
  pagesLeft++;
  for (const box of document.querySelectorAll('dialog')) box.dispatchEvent(new Event('cancel', { cancelable: true }));
}

// Show an error that no other element shows.
export function tellError(error) {
  return tell(tr('Error'), errorNotice(error));
}

// Show something that there is nothing to answer to; over when it has been read.
export function tell(title, content) {
  return dialog(title,
    close =>
      h('div', null, content, h('div', { class: 'row end' }, button(tr('Close'), () =>
        close(null), { class: 'primary' }))));
}

/**
 * A question before something is done; values are those of its form.
 * @typedef {object} Question
 * @property {string} title
 * @property {Content} [body]
 * @property {Content} [fields]
 * @property {string} yes the words of the button
 * @property {boolean} [danger]
 * @property {(values: Record<string, string>) => Promise<any>} perform does it
 * @property {(values: Record<string, string>) => Promise<Node>} [preview] what is to be shown of it, after each change
 */

/**
 * Ask whether to do something. An error is shown in the dialog, which then stays. The result is what perform returned,
 * or null; where the dialog is left while that is under way, what comes of it. While another dialog is open, nothing is
 * asked: a second click has come before the first one's question.
 * @param {Question} question
 * @returns {Promise<any>}
 */
export function confirm({ title, body = [], fields = [], yes, danger = false, perform, preview }) {
  if (isAsking()) return Promise.resolve(null);
  let underWay = null;
  return dialog(title, close => {
    const problem = h('div', { 'aria-live': 'assertive' });
    const submit = h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, yes);
    const values = () => Object.fromEntries(new FormData(form));
    const previewing = preview && previewOf(() => preview(values()));
    const form = h('form', { oninput: previewing?.later, onsubmit: async event => {
      event.preventDefault();
      submit.disabled = true;
      problem.replaceChildren();
      try {
        underWay = perform(values());
        close(await underWay);
      } catch (error) {
        underWay = null;
        problem.replaceChildren(errorNotice(error));
        submit.disabled = false;
      }
    } }, body, fields, previewing?.element, problem,
      h('div', { class: 'row end' }, button(tr('Cancel'), () => close(underWay)), submit));
    queueMicrotask(() => (form.querySelector('[autofocus]') ?? submit).focus());
    previewing?.now();
    return form;
  }, () => underWay);
}

// A box for what show() gives: now, or later, when nothing has been typed for a while. Of answers that overtake each
// other the last one that was asked for is shown. Once the box is gone nothing is asked for any more.
function previewOf(show) {
  const element = h('div', { 'aria-live': 'polite', class: 'preview' });
  let timer = null, latest = 0;
  const now = async () => {
    const request = ++latest;
    const content = await show().catch(errorNotice);
    if (request === latest) element.replaceChildren(content);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => element.isConnected && now(), 500);
  };
  return { element, now, later };
}
