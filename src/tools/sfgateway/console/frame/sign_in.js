// The form of the sign-in.

import { signIn } from '../base/api.js';
import { h } from '../base/dom.js';
import { field } from '../element/controls.js';
import { errorNotice } from '../element/errors.js';
import { tr } from '../language/texts.js';
import { languageChoice } from './top_bar.js';

// Make the form, with what is to be said above its button; enter(role) is called when a role has signed in.
export function signInForm(message, enter) {
  const problem = h('div', { role: 'alert' }, message ?? '');
  const submit = h('button', { type: 'submit', class: 'primary' }, tr('Sign in'));
  const role = h('input', { name: 'role', required: true, autocomplete: 'username', autocapitalize: 'none',
    spellcheck: 'false', maxlength: '63' });
  const password = h('input', { name: 'password', type: 'password', required: true, autocomplete: 'current-password',
    maxlength: '1000' });
  return h('form', { class: 'card sign-in', onsubmit: async event => {
    event.preventDefault();
    submit.disabled = true;
    try {
      enter(await signIn(role.value, password.value));
    } catch (error) {
      problem.replaceChildren(errorNotice(error));
      submit.disabled = false;
      password.value = '';
      password.focus();
    }
  } }, h('h1', null, h('img', { src: 'icon.svg', alt: '', width: '32', height: '32' }), 'sfflow'),
    h('p', { class: 'muted' }, tr('Sign in with a role of PostgreSQL. You see and may do what its rights allow.')),
    field(tr('Role'), role), field(tr('Password'), password), problem, submit, h('p', null, languageChoice()));
}
