"""Elements of the console by themselves: lists whose rows have the same key, dialogs that Escape closes, names
with characters that cannot be seen, keys of an input method and of the browser; and answers that come when their
session, their page, their tab or their dialog is over.

    elements.py URL
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1])
# How often an action was asked for.
ASKED = """return performance.getEntriesByType('resource').filter(e => e.name.endsWith(`/${arguments[0]}`)).length"""
# The answer to the next request of an action waits for answerOver(), and is then that the session is over.
HOLD_OVER = """
const ask = window.fetch;
window.isAsked = false;
window.fetch = (path, how) => {
  if (!String(path).endsWith(`/${arguments[0]}`)) return ask(path, how);
  window.fetch = ask;
  window.isAsked = true;
  return new Promise(go => {
    window.answerOver = () => go({ ok: false, status: 401, json: async () => ({ error: { message: 'over' } }) });
  });
};"""
HEADINGS = "return [...document.querySelectorAll('h2')].map(e => e.textContent)"


def dialogs():
    """How many dialogs are open."""
    return len(console.find('dialog'))


def press_button(words, inside='main'):
    """Press a button by a script, which is no sign of a person who is there."""
    ok(
        console.wait(
            lambda: console.run(
                """const found = [...document.querySelectorAll(`${arguments[1]} button`)]
                .find(b => b.innerText.trim() === arguments[0]);
                found?.click();
                return Boolean(found);""",
                words,
                inside,
            )
        ),
        f'press {words}',
    )


psql(
    r"""SELECT sf_create_state_machine('turned', json_build_object('Comment', U&'a\202Eb', 'StartAt', U&'S\202Et',
      'States', json_build_object(U&'S\202Et', json_build_object('Type', 'Wait', 'Seconds', 100000, 'End', true))));
    SELECT sf_start('turned', '{}', 'x');
    SELECT sf_create_state_machine('many', json_build_object('StartAt', 'S1', 'States', (SELECT
      json_object_agg('S' || n, json_build_object('Type', 'Pass', 'Next', 'S' || n + 1))
      FROM generate_series(1, 40) n)::jsonb
      || '{"S41": {"Type": "Succeed"}}'));
    SELECT sf_create_state_machine('long', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}');
    SELECT sf_start('long', jsonb_build_object('long', repeat('0123456789', 250000)), 'x');
    SELECT sf_create_worklist('approve');
    SELECT sf_create_state_machine('purchase', '{"StartAt": "A", "States": {"A": {"Type": "Task",
      "Resource": "human:approve", "End": true}}}');
    SELECT sf_start('purchase', '{}', 'a');
    SELECT sf_start('purchase', '{}', 'b')""",
    'retail',
)
psql("""CREATE ROLE "o'neill" LOGIN PASSWORD 'retail-secret'""")
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)

# --- rows with the same key are all there, however often a list is drawn
texts = console.of_module(
    'base/dom.js',
    """(() => {
      const list = (...keys) => m.h('ul', null, keys.map((key, n) => m.h('li', { key }, `${key}${n} `)));
      const shown = list('a', 'b', 'a');
      return [['a', 'b', 'a'], ['a', 'b', 'a'], ['a', 'a', 'c', 'a'], ['c']].map(keys => {
        m.patch(shown, list(...keys));
        return shown.textContent;
      });
    })()""",
)
ok(
    texts == ['a0 b1 a2 ', 'a0 b1 a2 ', 'a0 a1 c2 a3 ', 'c0 '],
    'rows with the same key are all there, in their order',
    texts,
)
hidden = console.of_module(
    'base/dom.js',
    "Object.keys(m.h('p', { key: 1, same: 2, css: { left: '1px' }, onclick: () => 1 }, () => m.h('b')))",
)
ok(hidden == [], 'an element of the page has no properties beside those of any element', hidden)

# --- an error that is told when nobody has touched anything since: Escape closes it, too
console.go('#/machine/many')
console.hold_answers()
console.hold('hold')
console.click('Hold…')
console.click('Hold', 'dialog')
console.held()
console.press(Keys.ESCAPE)
ok(console.wait(lambda: dialogs() == 0), 'Escape leaves a question whose answer is carried out', dialogs())
console.release(broken=True)
ok(console.has('cannot be reached', 'dialog'), '... an error of it is told', console.text())
console.press(Keys.ESCAPE)
ok(console.wait(lambda: dialogs() == 0, 10), '... and Escape closes that, too', dialogs())

# --- a question that was left asks nothing any more
press_button('New limit…')
console.wait(lambda: console.find('dialog [name=max_running]'))
console.wait(lambda: console.run('return window.requestsUnderWay === 0'))
before = console.run(ASKED, 'plan_limit')
console.find('dialog [name=max_running]')[0].send_keys('7')
press_button('Cancel', 'dialog')
ok(
    not console.wait(lambda: console.run(ASKED, 'plan_limit') > before, 1.5),
    'a preview is not asked for when its question was left',
)

# --- a question whose page was left before it could be asked
console.go('#/tonight')
console.hold('plan')
press_button('Redrive…')
console.held()
console.go('#/machines')
console.release()
ok(
    not console.wait(lambda: dialogs() > 0, 1.5) and console.has('Machines', 'h1'),
    'a question is not asked on another page',
    console.text('dialog'),
)

# --- names with characters that cannot be seen
console.go('#/machine/turned')
ok(
    'a\\u202eb' in console.text('pre.code') and '\u202e' not in console.text('pre.code'),
    'a definition shows what turns the direction as an escape',
    console.text('pre.code'),
)
PICTURE = "return [...document.querySelectorAll('.graph text, .graph title')].map(e => e.textContent).join(' ')"
ok(
    'S\\u202et' in console.run(PICTURE) and '\u202e' not in console.run(PICTURE),
    '... its picture, too',
    console.run(PICTURE),
)
console.go('#/execution/turned%3Ax?state=S%E2%80%AEt')
press_button('Hold this state…')
console.wait(lambda: dialogs() == 1)
ok(
    'S\\u202et' in console.text('dialog h2') and '\u202e' not in console.text('dialog h2'),
    '... and a question',
    console.text('dialog h2'),
)
press_button('Cancel', 'dialog')
console.go('#/schedules?name=a%E2%80%AEb')
ok('a\\u202eb' in console.run(HEADINGS), '... and the heading of a schedule', console.run(HEADINGS))

# --- the key Enter that ends what an input method composes chooses nothing
console.go('#/machine/many')
ok(console.wait(lambda: console.find('.graph-tools input')), 'a picture with a search')
console.run("""document.querySelector('.graph-tools input').focus()""")
console.press('S3')
ENTER = """document.querySelector('.graph-tools input').dispatchEvent(new KeyboardEvent('keydown',
    { key: 'Enter', isComposing: arguments[0], bubbles: true, cancelable: true }))"""
console.run(ENTER, True)
ok(
    not console.wait(lambda: 'state=' in console.run('return location.hash'), 1),
    'Enter within a composition chooses no state',
    console.run('return location.hash'),
)
console.run(ENTER, False)
ok(
    console.wait(lambda: 'state=S3' in console.run('return location.hash'), 10),
    '... and the next one does',
    console.run('return location.hash'),
)

# --- keys that are the browser's
KEY = """const e = new KeyboardEvent('keydown', { key: arguments[1], altKey: arguments[2], bubbles: true,
  cancelable: true });
document.querySelector(arguments[0]).dispatchEvent(e);
return e.defaultPrevented"""
console.go('#/machine/turned?tab=runs')
console.wait(lambda: console.find('#grid a'))
for place in ('#grid a[tabindex="0"]', '[role=tab][aria-selected=true]'):
    ok(not console.run(KEY, place, 'ArrowLeft', True), f'Alt with an arrow is left to the browser: {place}')
    ok(console.run(KEY, place, 'Home', False), '... and a key alone is not')
ok(console.answered(), 'the tab that Home leads to')

# --- a long payload whose page was left is fetched no further
console.go('#/execution/long%3Ax?tab=payloads')
console.hold('payload')
press_button('Show all (2.5 MB)')
console.held()
console.go('#/machines')
console.release()
ok(
    not console.wait(lambda: console.run(ASKED, 'payload') > 1, 1.5),
    'of a payload whose page was left one piece was fetched',
    console.run(ASKED, 'payload'),
)

# --- another tab of the inbox: the buttons fit the rows that are there
console.go('#/inbox')
BUTTONS = "return [...document.querySelectorAll('td button')].map(b => b.innerText.trim())"
ok(console.wait(lambda: console.run(BUTTONS) == ['Claim', 'Claim']), 'two tasks to claim', console.run(BUTTONS))
console.hold('inbox', '"mine"')
console.run("document.getElementById('tab-mine').click()")
console.held()
ok(console.run(BUTTONS) in ([], ['Claim', 'Claim']), 'tasks that are not mine cannot be released', console.run(BUTTONS))
console.release()
ok(console.wait(lambda: console.run(BUTTONS) == []), '... and none of them is mine', console.run(BUTTONS))

# --- an answer of a session that is over does not end the next one
console.go('#/tonight')
console.run(HOLD_OVER, 'plan')
press_button('Redrive…')
ok(console.wait(lambda: console.run('return window.isAsked')), 'a question of the first session')
ok(console.sign_out(), 'sign out')
console.find('input[name=role]')[0].send_keys("o'neill")
console.find('input[name=password]')[0].send_keys('retail-secret' + Keys.ENTER)
ok(console.wait(lambda: console.text('.role') == "o'neill"), 'sign in as another role', console.text())
console.run('window.answerOver()')
ok(
    not console.wait(lambda: console.find('input[name=role]') or dialogs() > 0, 1.5),
    'the session goes on when an answer of the one before comes late',
    console.text(),
)

# --- what the page proposes to run is SQL for any name of a role
ok(
    console.has("""SELECT sf_grant('READ', 'machine', 'o''neill')"""),
    'the statement for a role has its name as a literal',
    console.text(),
)
console.is_quiet('404 schedule', '404 schedules')
console.close()
