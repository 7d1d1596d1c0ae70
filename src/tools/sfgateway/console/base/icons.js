// Icons of 16 by 16: a picture by itself, or its shapes for use inside of another one.

import { s } from './dom.js';

// Pictures of 16 by 16, by name: paths; filled shapes have a letter before.
const ICONS = {
  ok: ['c8 8 7', 'M4.6 8.3l2.4 2.4 4.6-5'],
  bad: ['c8 8 7', 'M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6'],
  run: ['o8 8 6.2', 'f M6.3 4.9v6.2L11.4 8z'],
  wait: ['o8 8 6.2', 'M8 4.4V8l2.6 1.8'],
  stop: ['o8 8 6.2', 'f M5.4 5.4h5.2v5.2H5.4z'],
  held: ['o8 8 6.2', 'M6.2 5.2v5.6M9.8 5.2v5.6'],
  entry: ['o8 8 6.2'],
  skip: ['o8 8 6.2', 'M4.9 8h6.2'],
  unknown: ['o8 8 6.2', 'M8 11.4v.1M6.3 6.4c0-2.2 3.4-2.2 3.4 0C9.7 7.7 8 7.8 8 9.3'],
  late: ['f M8 1.2L15.4 14.4H.6z', 'n M8 5.6v4M8 11.9v.2'],
  copy: ['M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3'],
  eye: ['M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8z', 'o8 8 1.9'],
  fold: ['M4 6l4 4 4-4'],
  next: ['M6 3.5L10.5 8 6 12.5'],
  close: ['M3.5 3.5l9 9M12.5 3.5l-9 9'],
  menu: ['M2 4h12M2 8h12M2 12h12'],
};

// A picture; it says nothing to screen readers, since words stand beside it.
export function icon(name, more = '') {
  return s('svg', { class: `icon ${more}`, viewBox: '0 0 16 16', 'aria-hidden': 'true', focusable: 'false' },
    iconShapes(name));
}

// The shapes of a picture, also for use inside of another one.
export function iconShapes(name) {
  return ICONS[name].map(shape => {
    const circle = /^([co])([\d.]+) ([\d.]+) ([\d.]+)$/.exec(shape);
    if (circle)
      return s('circle', { class: circle[1] === 'c' ? 'disc' : 'ring', cx: circle[2], cy: circle[3], r: circle[4] });
    const [, kind, d] = /^(?:([fn]) )?(.*)$/.exec(shape);
    return s('path', { class: kind === 'f' ? 'disc' : ICONS[name][0][0] === 'c' || kind === 'n' ? 'cut' : 'ring', d });
  });
}
