// Begins with the session: the sign-in, or the pages.

import { session, signOut } from './base/api.js';
import { h } from './base/dom.js';
import { errorNotice } from './element/errors.js';
import { closeFrame, drawTimes, main, openFrame, showAddressed } from './frame/frame.js';
import { follow, followVisibility, stopFollowing } from './frame/live.js';
import { signInForm } from './frame/sign_in.js';
import { drawTrouble, isTroubled } from './frame/trouble.js';
import { tr } from './language/texts.js';

const MS_BETWEEN_DRAWINGS = 5000;

let isSignedIn = false;

// Show the form of the sign-in.
function showSignIn(message) {
  isSignedIn = false;
  stopFollowing();
  closeFrame();
  document.title = tr('Sign in – sfflow');
  main.className = 'page-sign-in';
  main.replaceChildren(signInForm(message, enter));
  main.querySelector('input').focus();
}

// Begin with a role that has signed in.
function enter(role) {
  isSignedIn = true;
  openFrame(role, leave);
  follow();
}

// Sign out. What the page has asked for would be refused then.
async function leave() {
  stopFollowing();
  closeFrame();
  try {
    await signOut();
    showSignIn();
  } catch (error) {
    showSignIn(error.status === 401 ? undefined : errorNotice(error));
  }
}

// The link to the content must not change the address, which names the page.
document.querySelector('.skip-link').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});

window.addEventListener('hashchange', showAddressed);
document.addEventListener('visibilitychange', () => {
  if (isSignedIn) followVisibility();
});
window.addEventListener('signed-out', ({ detail: reason }) => {
  showSignIn(
    h('p', null,
      reason === 'role_altered' ? tr('The session has ended because your role was altered. Sign in again.') :
        tr('The session has ended. Sign in again.')),
  );
});
setInterval(() => {
  if (!document.hidden) drawTimes();
  if (isTroubled()) drawTrouble();
}, MS_BETWEEN_DRAWINGS);

session().then(role => role === null ? showSignIn() : enter(role), error => {
  if (error.status !== 401) showSignIn(errorNotice(error)); // else "signed-out" has shown it
});
