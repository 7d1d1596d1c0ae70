// The pages, and the addresses that name them. A page is a module with
//   title(context): what it is called;
//   load(context, before): what it shows, asked for anew; before is what it shows until then;
//   draw(data, context): its elements;
//   pace(data): after how many milliseconds it is to be asked for again, and news(before, after): what a screen reader
//     hears of a change. A page can do without these two.
// The context of a page:
//   argument, query: what the address has after the page's name; role: who is signed in;
//   kept: an object for what the page keeps until another one is shown;
//   ask(action, request): ask the server, until the page is left;
//   refreshAfter(question): await a question's answer, and bring the page up to date if something was done;
//   go(query): change the query of the address; leaveFor(address): go to another page; neither does anything once the
//     user has left the page;
//   reload(): ask for the page anew; redraw(): draw it anew; afterDraw(step): have something done once the elements
//     that are being made have their positions in the window.

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

const FIRST = 'tonight';

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

// The page that an address names, and what is after its name: #/name/argument?query.
export function readAddress(address) {
  const [path, query = ''] = address.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  return { name: Object.hasOwn(PAGES, name) ? name : FIRST, argument: decode(rest.join('/')),
    query: Object.fromEntries(new URLSearchParams(query)) };
}
