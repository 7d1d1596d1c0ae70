// The bar at the top: the menu, whether the page is kept up to date, who is signed in, and the language.

import { h, patch } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { addressOf } from '../base/links.js';
import { text } from '../base/values.js';
import { button } from '../element/controls.js';
import { payloadsHidden } from '../element/payload.js';
import { chooseLanguage, language, LANGUAGES, tr } from '../language/texts.js';
import { MENU, menuEntryOf } from './pages.js';

// What the bar shows: without a role it is empty. togglePayloads and signOut are what its buttons do.
const topBar = { role: null, page: null, liveWord: tr('Live'), isMenuOpen: false, togglePayloads: null, signOut: null };

// Show something else in the bar.
export function updateTopBar(changed) {
  Object.assign(topBar, changed);
  patch(document.getElementById('top'), h('header', { id: 'top' }, topBar.role === null ? null : [
    h('a', { class: 'brand', href: addressOf('tonight') },
      h('img', { src: 'icon.svg', alt: '', width: '22', height: '22' }), 'sfflow'),
    button([icon('menu'), h('span', { class: 'unseen' }, tr('Menu'))],
      () => updateTopBar({ isMenuOpen: !topBar.isMenuOpen }), { class: 'menu-button',
      'aria-expanded': String(topBar.isMenuOpen), 'aria-controls': 'menu' }),
    h('nav', { id: 'menu', 'aria-label': tr('Pages'), class: topBar.isMenuOpen ? 'open' : '' }, menuList(),
      h('div', { class: 'who' },
        h('span', { id: 'live', class: 'live', title: tr('Whether the page is kept up to date') }, topBar.liveWord),
        button([icon('eye'), payloadsHidden() ? tr('Show payloads') : tr('Hide payloads')], topBar.togglePayloads, {
          class: 'small',
          'aria-pressed': String(payloadsHidden()),
        }), text(topBar.role, 'role'), languageChoice(), button(tr('Sign out'), topBar.signOut, { class: 'small' }))),
  ]));
}

// The entries of the menu.
function menuList() {
  const entry = menuEntryOf(topBar.page);
  return h('ul', null,
    MENU.map(([name, words]) =>
      h('li', null, h('a', { href: addressOf(name), 'aria-current': name === entry ? 'page' : null }, words))
    ));
}

// Say in a word whether the page is kept up to date.
export function setLive(liveWord) {
  updateTopBar({ liveWord });
}

// The choice of the language.
export function languageChoice() {
  return h('select', { class: 'small', 'aria-label': 'Language', lang: 'en', key: 'language',
    onchange: event => chooseLanguage(event.currentTarget.value) },
    LANGUAGES.map(([code, name]) => h('option', { value: code, lang: code, selected: code === language }, name)));
}
