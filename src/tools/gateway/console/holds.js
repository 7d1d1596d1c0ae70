// What is held of a machine or an execution, as their pages show it.

import { release } from './dialog.js';
import { h } from './dom.js';
import { count } from './format.js';
import { button, notice, text, time } from './parts.js';
import { tr } from './texts.js';

// Who holds what, since when and why. A state is released here; the page has a button for the rest.
export function heldNotices(held, mayRelease, reload) {
  return held.map(x =>
    h('div', { key: `held${x.target}${x.state}` },
      notice('held',
        h('p', { class: 'row' },
          h('span', null, tr('Held: '), text(x.state ? `${x.target}/${x.state}` : x.target, 'id'), tr(' by '),
            text(x.held_by), tr(' since '), time(x.since), x.reason ? [': ', text(x.reason)] : null,
            x.waiting > 0 ? tr(' · waiting: {0}', count(x.waiting, '{0} branch|{0} branches')) : null),
          x.state && mayRelease ? button(tr('Release…'), async () => {
            if (await release(x)) reload();
          }, { class: 'small', 'aria-label': tr('Release… {0}', x.state) }) : null)))
  );
}

// For a picture of a machine: the states that are held.
export function heldStates(held, machine, layout) {
  const names = new Set(held.filter(x => x.state && x.target === machine).map(x => x.state));
  return layout.states.filter(x => names.has(x.name)).map(x => ({ id: x.id, status: 'held' }));
}
