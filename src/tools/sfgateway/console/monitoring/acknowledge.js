// Alerts are acknowledged: the question, and the button of an alert in a list.

import { nameList, onTargets } from '../action/targets.js';
import { h } from '../base/dom.js';
import { button, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { may, rightsOf } from '../element/rights.js';
import { tr } from '../language/texts.js';

// Acknowledge alerts of executions, the latest ones of so many.
export function acknowledge(ids, kind = null, all = ids.length) {
  return confirm({
    title: ids.length === 1 ? tr('Acknowledge?') :
      tr('Acknowledge {0}?', all > ids.length ? tr('the latest {0} of {1}', ids.length, all) : ids.length),
    yes: tr('Acknowledge'),
    body: [
      h('p', null, ids.length === 1 ? tr('The alert goes away and stays away') : tr('The alerts go away and stay away'),
        tr(' until something new happens. Nothing runs.')),
      nameList(ids),
    ],
    fields: [field(tr('Comment'), h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }))],
    perform: values => onTargets(tr('Acknowledged'), 'acknowledge', ids, { ...values, ...(kind ? { kind } : {}) }),
  });
}

// The button of an alert: { kind, execution_id; node and rights, of another node }; null without the right, or for what
// is no alert of an execution. `data` and `refreshAfter` are those of the page.
export function acknowledgeButton(alert, data, refreshAfter) {
  const { kind, execution_id: id } = alert;
  if (!id || !may(rightsOf(data, alert), id, 'OPERATE')) return null;
  return button(tr('Acknowledge…'), () => refreshAfter(acknowledge([id], kind)), { class: 'small',
    'aria-label': tr('Acknowledge {0} of {1}', kind, id) });
}
