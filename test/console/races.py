"""Answers that overtake each other, clicks while something is under way, errors of what a page asks for, and what was
entered or chosen when a page is drawn anew.

    races.py URL
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1])
hold, held, release = console.hold, console.held, console.release


def address(to):
    """Go to an address without waiting for its page."""
    console.run('location.hash = arguments[0]', to)


def rows():
    """The rows of a list of executions."""
    return console.run("return [...document.querySelectorAll('.page-executions tbody tr')].map(e => e.innerText)")


def dialogs():
    """How many dialogs are open."""
    return len(console.find('dialog'))


def press_button(words, inside='main'):
    """Press a button by a script, as it may lie below something; it begins with the words."""
    return console.run(
        """
        const found = [...document.querySelectorAll(`${arguments[1]} button`)]
          .find(b => (b.getAttribute('aria-label') ?? b.innerText.trim()).startsWith(arguments[0]));
        found?.click();
        return Boolean(found);""",
        words,
        inside,
    )


psql(
    """SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000,
      "End": true}}}');
    SELECT count(sf_start('waits', '{}', n::text)) FROM generate_series(1, 60) n;
    SELECT sf_create_state_machine('loop', '{"StartAt": "Work", "States": {"Work": {"Type": "Pass", "Next": "More"},
      "More": {"Type": "Choice", "Choices": [{"Variable": "$.number", "NumericEquals": 1, "Next": "Again"}],
        "Default": "Over"},
      "Again": {"Type": "Pass", "Parameters": {"pad.$": "$.pad", "number": 2}, "Next": "Work"},
      "Over": {"Type": "Succeed"}}}');
    SELECT sf_start('loop', jsonb_build_object('pad', repeat('x', 30000), 'number', 1), 'x')""",
    'retail',
)
psql(
    """CREATE FUNCTION shop.first_fails(n integer) RETURNS integer LANGUAGE plpgsql AS $$
    BEGIN IF n = 1 THEN RAISE EXCEPTION 'the first one'; END IF; RETURN n; END $$""",
    'retail',
)
psql(
    """SELECT sf_create_state_machine('jobs', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
      "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "Do", "States": {"Do": {"Type": "Task",
        "Resource": "sql:shop.first_fails", "Parameters": {"n.$": "$"}, "End": true,
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Past"}]}, "Past": {"Type": "Pass", "End": true}}}}}}');
    SELECT sf_start('jobs', jsonb_build_object('items', (SELECT jsonb_agg(i) FROM generate_series(1, 230) AS i)),
       'x')""",
    'retail',
)
psql("CALL sf_wait('loop:x', '50 s')", 'retail')
psql("CALL sf_wait('jobs:x', '100 s')", 'retail')
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
console.hold_answers()

# --- an answer that comes late belongs to an address that is not shown any more
console.go('#/executions?state_machine=waits')
hold('executions', '"status":"FAILED"')
address('#/executions?status=FAILED')
held()
console.go('#/executions?state_machine=loop')
ok(console.wait(lambda: len(rows()) == 1 and 'loop:x' in rows()[0]), 'the list of a filter', rows())
release()
ok(len(rows()) == 1 and 'loop:x' in rows()[0], '... stays when an answer for the filter before comes late', rows())

# --- an error belongs to its address, too: older data does not hide it
console.go('#/executions?labels=%7Bbroken')
ok(console.has('Labels: is no JSON'), 'labels that are no JSON are told, although a list was there', console.text())
console.go('#/executions?state_machine=waits')
ok(console.wait(lambda: len(rows()) == 50), '... and the next filter shows its list', console.text())

# --- what is chosen belongs to a filter; what is half done is told
console.run("document.querySelector('thead input').click()")
console.click('Next page')
console.wait(lambda: len(rows()) == 10)
console.run("document.querySelector('thead input').click()")
ok(console.has('60 executions chosen', '.bulk'), 'executions of two pages are chosen', console.text('.bulk'))
hold('hold', '"waits:1"')
press_button('Hold…', '.bulk')
console.click('Hold', 'dialog')
held()
release(broken=True)
ok(
    console.has('10 targets of 60 refused', 'dialog:last-of-type')
    and console.has('cannot be reached', 'dialog:last-of-type'),
    'when the second request breaks off, it is told how many are left',
    console.text('dialog:last-of-type'),
)
press_button('Close', 'dialog:last-of-type .end')
console.wait(lambda: dialogs() == 0)
ok(psql("SELECT count(*) FROM sf_holds WHERE target LIKE 'waits:%'") in ('50', '60'), '... and the first ones are held')
console.run("document.querySelector('thead input').click()")
ok(console.has('chosen', '.bulk'), 'some are chosen', console.text('.bulk'))
console.go('#/executions?state_machine=loop')
ok('Choose executions' in console.text('.bulk'), '... with another filter none is', console.text('.bulk'))

# --- labels in the question about all that a filter has
console.go('#/executions?state_machine=waits')
press_button('All that the filter has…', '.bulk')
console.wait(lambda: 'Stop: 60' in console.text('dialog'))
console.press('Set')
console.wait(lambda: 'Set labels: 60' in console.text('dialog'))
console.tab_to_field('labels')
console.press('{"a', Keys.ENTER)
ok(
    console.has('Labels: is no JSON', 'dialog'),
    'labels that are no JSON are told in the dialog',
    console.text('dialog'),
)
console.press(Keys.ESCAPE)
console.wait(lambda: dialogs() == 0)

# --- fields show what the address says, once it says something else
console.run(
    """localStorage.setItem('sfflow-views', JSON.stringify([{ name: 'Two', query: { state_machine: 'waits',
    sort: 'name', view: 'Two' } }]))"""
)
console.go('#/machines')
console.go('#/executions?state_machine=waits')
console.run("document.querySelector('.views details').open = true; document.querySelector('[name=sort]').focus()")
console.press('long')
console.wait(lambda: 'sort=took' in console.run('return location.hash'))
console.tab_to_field('view')
console.press('One', Keys.ENTER)
console.has('One', 'h1')
console.click('Two', '.views')
console.has('Two', 'h1')
FIELDS = "return ['sort', 'view'].map(name => document.querySelector(`.views [name=${name}]`).value)"
ok(console.run(FIELDS) == ['name', 'Two'], 'another view has its own name and order in the form', console.run(FIELDS))
console.run("document.querySelector('.views [name=view]').focus()")
console.press(Keys.END, '!')
hold('executions')
console.run("window.dispatchEvent(new HashChangeEvent('hashchange'))")
held()
release()
ok(
    console.run("return document.querySelector('.views [name=view]').value") == 'Two!',
    'what is typed stays when the page is drawn anew',
)

# --- payloads: another visit is another payload, and its buttons work
console.go('#/execution/loop%3Ax?state=Work')
PAYLOAD = "return document.querySelector('.side .payload').innerText"
press_button('Show all', '.side .payload')
ok(
    console.wait(lambda: 'number: 2' in console.run(PAYLOAD)),
    'all of the input of the last visit',
    console.run(PAYLOAD)[-200:],
)
console.run("document.querySelector('.visits a').click()")
console.wait(lambda: console.run("return document.querySelector('.visits a').getAttribute('aria-current')") == 'true')
ok(
    console.wait(lambda: 'Only the beginning is shown' in console.run(PAYLOAD)),
    'the first visit begins with its own input',
    console.run(PAYLOAD)[-200:],
)
hold('payload')
press_button('Show all', '.side .payload')
held()
release(broken=True)
ok(
    console.wait(lambda: 'cannot be reached' in console.run(PAYLOAD)) and 'xxx' in console.run(PAYLOAD),
    'an error is shown above the beginning',
    console.run(PAYLOAD)[:200],
)
press_button('Show all', '.side .payload')
ok(
    console.wait(lambda: 'number: 1' in console.run(PAYLOAD)) and 'cannot be reached' not in console.run(PAYLOAD),
    '... and all of it is fetched at the next click',
    console.run(PAYLOAD)[-200:],
)
console.run("[...document.querySelectorAll('.side .payload button')].find(b => b.innerText.trim() === 'Hide').focus()")
console.press(Keys.ENTER)
ok(console.wait(lambda: 'Hidden.' in console.run(PAYLOAD)), 'it can be hidden')
ok(
    console.run('return document.activeElement.innerText.trim()') == 'Show',
    '... and the focus stays at the button',
    console.run('return document.activeElement.outerHTML.slice(0, 200)'),
)

# --- a redrive with another version has another picture
STATES = "return [...document.querySelectorAll('.graph [data-state]')].map(e => e.dataset.state).join(' ')"
psql(
    """SELECT sf_create_state_machine('versions', '{"StartAt": "A", "States": {"A": {"Type": "Fail"}}}');
    SELECT sf_start('versions', '{}', 'x')""",
    'retail',
)
psql("CALL sf_wait('versions:x', '50 s')", 'retail')
console.go('#/execution/versions%3Ax')
ok(console.wait(lambda: console.run(STATES) == 'A'), 'the picture of an execution', console.run(STATES))
psql(
    """SELECT sf_create_state_machine('versions', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
      "B": {"Type": "Succeed"}}}', or_replace => true);
    SELECT sf_redrive('versions:x', version => 2)""",
    'retail',
)
ok(console.wait(lambda: console.run(STATES) == 'A B'), '... is another one with another version', console.run(STATES))

# --- pages of jobs: another status begins with its first page
console.go('#/execution/jobs%3Ax?tab=jobs&state=-')
JOBS = "return [...document.querySelectorAll('.panel tbody tr')].map(e => e.innerText)"
console.wait(lambda: len(console.run(JOBS)) == 200)
console.click('Next page', '.panel')
ok(console.wait(lambda: 0 < len(console.run(JOBS)) < 200), 'the second page of jobs', len(console.run(JOBS)))
console.run("[...document.querySelectorAll('.chips button')].find(b => b.innerText.includes('failure')).click()")
ok(
    console.wait(lambda: len(console.run(JOBS)) == 1 and 'Do[0]' in console.run(JOBS)[0]),
    'the job that failed, of the first page',
    console.run(JOBS),
)

# --- months: each click counts, also while the answer to the one before is under way
console.go('#/schedules?name=nightly-0200')
hold('schedule')
console.click('Later')
console.wait(lambda: console.run('return location.hash').endswith('month=1'))
held()
console.click('Later')
ok(
    console.wait(lambda: console.run('return location.hash').endswith('month=2')),
    'a second click leads to the month after',
    console.run('return location.hash'),
)
release()

# --- questions: one at a time, gone with their page, and what comes of them is told
console.go('#/executions?state_machine=loop')
failed = psql(
    "SELECT execution_id FROM sf_executions WHERE status = 'FAILED' AND execution_id LIKE 'nightly:%' LIMIT 1"
)
console.go('#/execution/' + failed.replace(':', '%3A'))
hold('plan')
press_button('Redrive…')
press_button('Redrive…')
held(2)
release()
ok(console.wait(lambda: dialogs() > 0) and dialogs() == 1, 'two clicks make one question', dialogs())
console.go('#/machine/waits')
ok(dialogs() == 0, 'a question is gone with its page', dialogs())
hold('hold')
press_button('Hold…')
console.click('Hold', 'dialog')
held()
console.click('Cancel', 'dialog')
ok(dialogs() == 0, 'a question can be left while its answer is carried out')
release(broken=True)
ok(console.has('cannot be reached', 'dialog'), '... and an error is told all the same', console.text('dialog'))
press_button('Close', 'dialog .end')
console.wait(lambda: dialogs() == 0)
hold('set_limit')
press_button('New limit…')
console.wait(lambda: console.find('dialog [name=max_running]'))
console.find('dialog [name=max_running]')[0].send_keys('100')
console.click('Set', 'dialog')
held()
console.click('Cancel', 'dialog')
release(broken=True)
ok(console.has('cannot be reached', 'dialog'), '... also of a limit', console.text('dialog'))
press_button('Close', 'dialog .end')
console.go('#/schedules')
hold('machines')
console.click('New schedule…')
held()
release(broken=True)
ok(console.has('cannot be reached', 'dialog'), 'an error before a question is told', console.text('dialog'))
press_button('Close', 'dialog .end')
console.go('#/constructor')
ok(console.has('Tonight', 'h1'), 'an address that names no page shows Tonight', console.text())

# --- a picture that cannot be fetched
console.break_off('layout')
address('#/machine/loop')
ok(
    console.has('cannot be reached', '.panel') and console.has('StartAt', '.panel'),
    'the error of a picture stands in its place',
    console.text(),
)
console.break_off(None)

# --- a sign-out that is not answered
hold('logout')
console.run("[...document.querySelectorAll('#top button')].find(b => b.textContent === 'Sign out').click()")
held()
release(broken=True)
ok(
    console.has('cannot be reached') and console.find('input[name=role]') != [],
    'the error of a sign-out is told',
    console.text(),
)

# --- another tab of the browser
ok(console.sign_in('retail', 'retail-secret'), 'sign in again', console.text())
console.go('#/machine/waits')
press_button('Start…')
console.wait(lambda: dialogs() == 1)
first = console.driver.current_window_handle
console.driver.switch_to.new_window('tab')
console.driver.get(console.url)
console.wait(lambda: console.find('#menu a'))
console.sign_out()
other = console.driver.current_window_handle
console.driver.switch_to.window(first)
ok(
    console.wait(lambda: console.find('input[name=role]')) and dialogs() == 0,
    'who signs out in another tab is signed out here, too',
    console.text(),
)
console.driver.switch_to.window(other)
console.find('input[name=role]')[0].send_keys('operator')
console.find('input[name=password]')[0].send_keys('operator-secret' + Keys.ENTER)
console.wait(lambda: console.find('#menu a'))
console.driver.switch_to.window(first)
ok(
    console.wait(lambda: console.text('.role') == 'operator'),
    '... and signs in with the other one',
    console.text('#top'),
)
# what the page asks for in between is refused: by the end of the session, or by the rights of the other role
console.is_quiet('401 poll', '401 machine', '401 layout', '404 machine', '404 layout')
console.close()
