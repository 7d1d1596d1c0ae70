// What the role that is signed in may do.

import { h } from '../base/dom.js';
import { machineOf } from '../base/format.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';

// Does the role have one of some rights on the machine of a target? `rights` is what SQL says of the machines of a
// page.
export function may(rights, target, ...wanted) {
  const has = rights?.[machineOf(target)] ?? [];
  return wanted.some(right => has.includes(right));
}

// The rights that count for a row of a list: those on its node.
export function rightsOf(data, row) {
  return row.node ? { [machineOf(row.execution_id ?? row.executions?.[0] ?? '')]: row.rights } : data.rights;
}

// Why an action is not offered.
export function noRight(machine) {
  return h('span', { class: 'muted no-right' }, tr('Your role does not have the right OPERATE on '), text(machine),
    '.');
}
