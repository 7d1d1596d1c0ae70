// The pages, and the addresses that name them.

import * as comparison from '../execution/comparison.js';
import * as execution from '../execution/execution.js';
import * as executions from '../execution/executions.js';
import * as inbox from '../human/inbox.js';
import * as task from '../human/task.js';
import { tr } from '../language/texts.js';
import * as machine from '../machine/machine.js';
import * as machines from '../machine/machines.js';
import * as activities from '../monitoring/activities.js';
import * as alerts from '../monitoring/alerts.js';
import * as health from '../monitoring/health.js';
import * as tonight from '../night/tonight.js';
import * as rules from '../rule/rules.js';
import * as schedules from '../schedule/schedules.js';

/** @import { Content } from '../base/dom.js' */

/**
 * A page is a module with these functions. It can do without the last two.
 * @typedef {object} Page
 * @property {(context: Context) => string} title what it is called
 * @property {(context: Context, before?: any) => Promise<any>} load what it shows, asked for anew; before is what it
 *   shows until then
 * @property {(data: any, context: Context) => Content} draw its elements
 * @property {(data: any) => number} [pace] after how many milliseconds it is to be asked for again
 * @property {(before: any, after: any) => string} [news] what a screen reader hears of a change
 */

/**
 * The context of a page. Once the user has left the page, go, leaveFor and redraw do nothing.
 * @typedef {object} Context
 * @property {string} argument what the address has after the page's name
 * @property {Record<string, string | undefined>} query what the address has behind "?"
 * @property {string} role who is signed in
 * @property {Record<string, any>} kept what the page keeps until another one is shown
 * @property {Ask} ask
 * @property {(question: Promise<any>) => Promise<void>} refreshAfter awaits a question's answer, and brings the page up
 *   to date if something was done
 * @property {(query: Record<string, string | number | null | undefined>) => void} go changes the query of the address
 * @property {(address: string) => void} leaveFor goes to another page
 * @property {() => Promise<void>} reload asks for the page anew
 * @property {() => void} redraw draws it anew
 * @property {(step: () => void) => void} afterDraw has something done once the elements that are being made have their
 *   positions in the window
 */

/**
 * Ask the server, until the page is left.
 * @typedef {(action: string, request?: object) => Promise<any>} Ask
 */

const FIRST = 'tonight';

/** @type {Record<string, Page>} */
export const PAGES = { tonight, executions, execution, compare: comparison, machines, machine, schedules, rules,
  activities, inbox, task, alerts, health };

// What the menu leads to: [name, words].
export const MENU = [
  ['tonight', tr('Tonight')],
  ['executions', tr('Executions')],
  ['machines', tr('Machines')],
  ['schedules', tr('Schedules')],
  ['rules', tr('Rules')],
  ['activities', tr('Activities')],
  ['inbox', tr('Inbox')],
  ['alerts', tr('Alerts')],
  ['health', tr('Health')],
];

// The pages that the menu leads to by way of another one.
const LISTS = { execution: 'executions', compare: 'executions', machine: 'machines', task: 'inbox' };

// The name of the menu's entry that a page belongs to.
export function menuEntryOf(name) {
  return LISTS[name] ?? name;
}

// Undo the coding of an address; one that is broken stays as it is.
function decode(coded) {
  try {
    return decodeURIComponent(coded);
  } catch {
    return coded;
  }
}

/**
 * The page that an address names, and what is after its name: #/name/argument?query.
 * @param {string} address
 * @returns {Pick<Context, 'argument' | 'query'> & { name: string }}
 */
export function readAddress(address) {
  const [path, query = ''] = address.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  return { name: Object.hasOwn(PAGES, name) ? name : FIRST, argument: decode(rest.join('/')),
    query: Object.fromEntries(new URLSearchParams(query)) };
}
