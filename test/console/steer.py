"""What pages offer to a role that may only read, to an operator, and to the owner. Schedules and rules, made and
changed.

    steer.py URL
"""
import sys

from browser import Console, ok, psql

console = Console(sys.argv[1])
psql("CREATE ROLE reader LOGIN PASSWORD 'reader-secret'")
psql("SELECT sf_grant('READ', m, 'reader') FROM unnest('{nightly,order,invoices}'::text[]) AS m", 'retail')

# The buttons that are offered in the main part of a page; those that only show something are left out.
OFFERED = """return [...new Set([...document.querySelectorAll('main button:not(:disabled)')]
    .filter(e => e.checkVisibility())
    .map(e => e.innerText.trim()).filter(t => /…$/.test(t) || /^(New|Edit)/.test(t)).map(t => t.replace(/ \\d+…$/,
        '…')))].sort().join(' ')"""
PAGES = {
    'tonight': '#/tonight',
    'what failed': '#/execution/nightly%3A20250205',
    'what runs': '#/execution/order%3AA-17',
    'a machine': '#/machine/order',
    'machines': '#/machines',
    'alerts': '#/alerts',
    'health': '#/health',
    'schedules': '#/schedules?name=nightly-0200',
    'rules': '#/rules',
}
RIGHTS = {
    'reader': {'rules': 'New rule…'},  # which every role may make, unless CREATE was revoked from public
    'operator': {
        'tonight': 'Acknowledge… Redrive… Release…',
        'what failed': 'Hold this state… Hold… Mark… Redrive…',
        'what runs': 'Hold… Release… Stop…',
        'a machine': 'Change… Hold… New limit… Release… Remove…',
        'alerts': 'Acknowledge…',
        'health': 'Change… New limit… Release… Remove…',
        'rules': 'New rule…',
    },
    'retail': {
        'tonight': 'Acknowledge… Redrive… Release…',
        'what failed': 'Hold this state… Hold… Mark… Redrive…',
        'what runs': 'Hold… Release… Stop…',
        'a machine': 'Change… Hold… New limit… Release… Remove… Start…',
        'machines': 'Start…',
        'alerts': 'Acknowledge…',
        'health': 'Change… New limit… Release… Remove…',
        'schedules': 'Edit… Hold… New calendar… New schedule… Remove…',
        'rules': 'Edit… New rule… Remove…',
    },
}
for role, offers in RIGHTS.items():
    ok(console.sign_in(role, f'{role}-secret'), f'{role} signs in')
    for page, address in PAGES.items():
        console.go(address)
        want = offers.get(page, '')
        ok(
            console.wait(lambda: console.run(OFFERED) == want),
            f"{role}, {page}: {want or 'nothing is offered'}",
            console.run(OFFERED),
        )
    console.go('#/executions?state_machine=order')
    console.wait(lambda: len(console.find('tbody tr')) > 5)
    console.run("document.querySelector('tbody input[type=checkbox]').click()")
    may = role != 'reader'
    ok(
        console.wait(lambda: all(b.is_enabled() == may for b in console.find('.bulk button'))),
        f'{role}, executions: ' + ('all of them' if may else 'none'),
    )
    if not may:
        ok(
            'does not have the right OPERATE on order' in console.text('.bulk'),
            '... and the page says why',
            console.text('.bulk'),
        )
        console.go('#/execution/order%3AA-17')
        ok(console.has('does not have the right OPERATE on order', '.title'), '... that of an execution, too')
    console.sign_out()

# A page that keeps itself up to date says which of its requests no person has caused: they do not keep the session
# alive.
console.sign_in('reader', 'reader-secret')
console.run(
    """window.asked = []; const send = window.fetch;
window.fetch = (path, how) => { window.asked.push(how?.headers?.['X-Background'] ?? 'person'); return send(path,
    how); };"""
)
ok(
    console.wait(lambda: console.run('return window.asked.length') >= 3)
    and set(console.run('return window.asked')) == {'1'},
    'a page that is left alone marks what it asks for',
    console.run('return window.asked'),
)
console.find('h1')[0].click()
ok(
    console.wait(lambda: 'person' in console.run('return window.asked')),
    '... until somebody uses it',
    console.run('return window.asked'),
)
console.sign_out()

# A right that is given or taken changes what an open page offers.
console.sign_in('reader', 'reader-secret')
console.go('#/execution/order%3AA-17')
psql("SELECT sf_grant('OPERATE', 'order', 'reader')", 'retail')
ok(
    console.wait(lambda: console.run(OFFERED) == 'Hold… Release… Stop…'),
    'a right that is given shows in a page that is open',
)
console.click('Stop…', '.title')
psql("SELECT sf_revoke('OPERATE', 'order', 'reader')", 'retail')
console.click('Stop', 'dialog')
ok(console.has('permission denied', 'dialog'), 'one that was taken in the meantime is refused', console.text('dialog'))
console.click('Cancel', 'dialog')
console.sign_out()


def fill(**values):
    """Fill fields of the dialog in, as a person does."""
    for name, value in values.items():
        console.wait(lambda: console.find(f'dialog [name={name}]'))
        found = console.find(f'dialog [name={name}]')[0]
        if found.tag_name == 'select':
            console.run(
                "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
                found,
                value,
            )
        else:
            found.clear()
            found.send_keys(value)


# --- schedules
console.sign_in('retail', 'retail-secret')
console.go('#/schedules')
console.click('New schedule…')
ok(
    console.has('the next runs show here', 'dialog'),
    'a new schedule: the dialog says what it needs',
    console.text('dialog'),
)
fill(name='leap', state_machine='invoices', schedule='0 25 29 2 *', timezone='UTC')
ok(console.has('"hour" takes 0 to 23', 'dialog .preview'), 'a mistake shows while one types', console.text('dialog'))
fill(schedule='0 6 29 2 *')
ok(console.has('29 Feb 2028', 'dialog .preview'), '... and the next runs, when there is none', console.text('dialog'))
ok(psql("SELECT count(*) FROM sf_schedules WHERE schedule_name = 'leap'") == '0', '... but nothing is made yet')
fill(calendar='bank', on_closed='next', missed='skip', overlap='queue', input='{"stores": [7]}')
ok(
    console.has('1 Mar 2032', 'dialog .preview'),
    'the calendar moves the run of a Sunday',
    console.text('dialog .preview'),
)
console.click('Save', 'dialog')
ok(console.has('leap', 'table'), 'it is made, and listed')
ok(
    psql(
        "SELECT concat_ws('|', schedule, calendar, on_closed, missed, overlap, "
        "input) FROM sf_schedules WHERE schedule_name = 'leap'"
    )
    == '0 6 29 2 *|bank|next|skip|queue|{"stores": [7]}',
    '... as the form said',
)
console.click('leap')
ok(console.has('run on the open day after'), 'its page says how it is set')
ok(console.wait(lambda: len(console.find('.month .closed')) >= 8), '... and which days are closed')
console.click('Edit…')
fill(schedule='30 6 29 2 *')
console.click('Save', 'dialog')
ok(
    console.wait(
        lambda: psql("SELECT schedule || calendar FROM sf_schedules WHERE schedule_name = 'leap'") == '30 6 29 2 *bank'
    ),
    'a change keeps the rest',
)
console.click('Hold…')
fill(reason='not now')
console.click('Hold', 'dialog')
ok(
    console.wait(lambda: psql("SELECT reason FROM sf_holds WHERE target = 'schedule:leap'") == 'not now')
    and console.has('Held', 'table'),
    'a hold pauses it',
)
console.click('Release…')
console.click('Release', 'dialog')
ok(
    console.wait(lambda: psql("SELECT count(*) FROM sf_holds WHERE target = 'schedule:leap'") == '0'),
    '... until it is released',
)
console.click('Remove…')
console.click('Remove', 'dialog')
ok(console.wait(lambda: psql("SELECT count(*) FROM sf_schedules WHERE schedule_name = 'leap'") == '0'), 'it is removed')

# More schedules than a page has; the one that is chosen can be on another page.
LISTED = "return [...document.querySelector('main .card table').tBodies[0].rows].map(r => r.cells[0].innerText)"
psql("SELECT count(sf_schedule('many-' || n, '0 6 1 1 *', 'invoices')) FROM generate_series(101, 205) n", 'retail')
names = psql('SELECT schedule_name FROM sf_schedules ORDER BY schedule_name', 'retail').split('\n')
console.go('#/schedules')
ok(console.wait(lambda: console.run(LISTED) == names[:100]), 'a page of schedules', console.run(LISTED))
console.click('Next page')
ok(
    console.wait(lambda: console.run(LISTED) == names[100:]),
    '... leads to the next one, which has the rest',
    console.run(LISTED),
)
console.click(names[-1], 'table')
ok(console.has('Hold…') and console.run(LISTED) == names[100:], 'one of them is chosen', console.text())
console.click('First page')
ok(
    console.wait(lambda: console.run(LISTED) == names[:100]) and console.button('Hold…') is not None,
    '... which stays, with what can be done, beside the first page',
    console.text(),
)
psql("SELECT sf_unschedule(schedule_name) FROM sf_schedules WHERE schedule_name LIKE 'many-%'", 'retail')

# A list without further pages says that it ends.
ok('These are the first' not in console.text(), 'a list that has all says nothing of it', console.text())
psql("""SELECT sf_create_calendar('many-' || n, '{"Weekdays": ["MON"]}') FROM generate_series(101, 205) n""", 'retail')
console.go('#/schedules')
ok(console.has('These are the first 100.'), '... one of more calendars says how many it shows', console.text())
psql("SELECT sf_drop_calendar(calendar) FROM sf_calendars WHERE calendar LIKE 'many-%'", 'retail')

# --- rules
console.go('#/rules')
ok(
    console.has('page-for-invoices') and console.has('the pager does not answer'),
    'rules, and why a delivery was not made',
    console.text(),
)
psql('UPDATE _sfflow.rule_delivery SET due_at = NULL, status = 4')
ok(console.has('Discard…'), 'a delivery that is not tried any more', console.text())
console.run(
    "[...document.querySelectorAll('main button')].find(b => b.getAttribute('aria-label') === 'Redeliver to "
    "page-for-invoices').click()"
)
ok(console.has('is tried again', 'dialog'), 'a question before it is tried again')
psql("CREATE OR REPLACE FUNCTION shop.page(event jsonb) RETURNS void LANGUAGE sql AS ''", 'retail')
console.click('Redeliver', 'dialog')
ok(
    console.wait(lambda: psql("SELECT delivered FROM sf_rules WHERE rule_name = 'page-for-invoices'") == '1'),
    'it is made then',
)
ok(console.has('Nothing waits, and nothing is dead.'), '... and goes from the page')
console.click('New rule…')
fill(name='late', pattern='{"source": ["sfflow.deadlines"}', target='notify:late')
ok(
    console.has('invalid input syntax', 'dialog .preview'),
    'a pattern that is none shows while one types',
    console.text('dialog'),
)
fill(pattern='{"source": ["sfflow.deadlines"]}', event='{"source": "aws.states"}')
ok(console.has('does not match', 'dialog .preview'), '... and whether it matches an event', console.text('dialog'))
fill(event='{"source": "sfflow.deadlines"}')
ok(console.has('The pattern matches', 'dialog .preview'), '... which it then does', console.text('dialog'))
console.click('Create', 'dialog')
ok(console.has('notify:late'), 'the rule is made, and listed')
ok(
    psql("SELECT concat_ws('|', pattern, target, input) FROM sf_rules WHERE rule_name = 'late'")
    == '{"source": ["sfflow.deadlines"]}|notify:late',
    '... as the form said',
)
console.run(
    "[...document.querySelectorAll('main button')].find(b => b.getAttribute('aria-label') === 'Remove late').click()"
)
console.click('Remove', 'dialog')
ok(console.wait(lambda: psql("SELECT count(*) FROM sf_rules WHERE rule_name = 'late'") == '0'), 'it is removed')

# --- limits and deadlines, where an operator looks for them
console.go('#/machine/order')
ok(console.has('order/Pack') and console.has('0 of 100'), 'the page of a machine has its limits', console.text())
console.go('#/machine/nightly')
ok(console.has('Deadlines') and console.has('in time'), '... and its deadlines', console.text())
console.go('#/tonight')
ok(
    console.has('Deadlines') and not console.has('Limits', seconds=0),
    'tonight has the deadlines, and no limit that is not used up',
)
psql("SELECT sf_set_limit('order', max_running => 1)", 'retail')
psql("""SELECT sf_start('order', '{"order": "L-1", "article": "lamp", "pieces": 1}')""", 'retail')
ok(console.has('Limits that are used up'), '... but one for which something waits', console.text())


def press_button(label):
    """Press a button that is named by its label, once it is there."""
    selector = f"main button[aria-label='{label}']"
    console.wait(lambda: console.find(selector))
    console.find(selector)[0].click()


press_button('Change… the limit of order')
fill(max_running='50')
ok(console.has('Now: 1 at a time', 'dialog .preview'), '... which can be changed there', console.text('dialog'))
console.click('Change', 'dialog')
ok(console.wait(lambda: 'Limits that are used up' not in console.text()), '... and is not used up then', console.text())

# --- limits are set, changed and removed; what waits knows its place, and who has the places
psql(
    """SELECT sf_create_state_machine('press', '{"StartAt": "Print", "States": {
    "Print": {"Type": "Wait", "Seconds": 600, "Next": "Fold"}, "Fold": {"Type": "Pass", "End": true}}}')""",
    'retail',
)
LIMIT = "SELECT concat_ws('|', target, key, max_running, rate, per, on_limit) FROM sf_limits WHERE target = 'press'"
console.go('#/machine/press')
console.click('New limit…')
fill(target='press', max_running='1')
console.click('Set', 'dialog')
ok(console.has('0 of 1'), 'a limit is set', console.text())
ok(psql(LIMIT) == 'press|1|queue', '... as the form said', psql(LIMIT))
for n in (1, 2, 3):
    psql(f"SELECT sf_start('press', '{{}}', '{n}')", 'retail')
    console.wait(lambda: psql('SELECT in_use + waiting FROM sf_limits WHERE target = $$press$$') == str(n))
console.go('#/execution/press%3A3')
ok(
    console.has('Print waits for a slot of the limit press') and console.has('position 2 of 2'),
    'an execution that waits tells its place',
    console.text(),
)
ok(console.has('1 of 1 slots are taken, by press:1'), '... and who has the slots', console.text())
ok(console.button('press:1', '.notice') is not None, '... with a link')
console.go('#/execution/press%3A2')
ok(console.has('it is the next one of 2'), '... also the one that comes next', console.text())
console.go('#/health')
press_button('Change… the limit of press')
MOST = 'dialog input[name=max_running]'
ok(console.wait(lambda: console.find(MOST)[0].get_attribute('value') == '1'), 'the question has the limit')
fill(max_running='2', rate='5', per='10 s')
console.click('Change', 'dialog')
ok(console.wait(lambda: psql(LIMIT) == 'press|2|5|00:00:10|queue'), 'the limit is changed', psql(LIMIT))
console.go('#/machine/press')
press_button('Remove… the limit of press')
ok(console.has('What waits begins then: 1 branch.', 'dialog'), 'the question says what waits', console.text('dialog'))
console.click('Remove', 'dialog')
ok(console.wait(lambda: psql(LIMIT) == ''), '... and removed')
console.go('#/execution/press%3A3')
ok(console.wait(lambda: 'waits for a slot' not in console.text()), 'then nothing waits for it', console.text())
console.go('#/health')
console.click('New limit…')
ok(console.has('what would come of it shows here', 'dialog .preview'), 'a limit of any target', console.text('dialog'))
fill(target='nothing', max_running='3')
ok(console.has('"nothing"', 'dialog .preview'), '... not of one that does not exist', console.text('dialog'))
fill(target='press', key='$.press', rate='3', per='1 min', on_limit='fail')
ok(console.has('3 run now, and 0 wait.', 'dialog .preview'), '... shows what runs', console.text('dialog'))
console.click('Set', 'dialog')
ok(
    console.wait(lambda: psql(LIMIT) == 'press|$.press|3|3|00:01:00|fail'),
    '... has a key, a rate, and what is beyond it',
    psql(LIMIT),
)
press_button('Remove… the limit of press')
ok(console.has('Nothing waits for it.', 'dialog'), '... and is removed', console.text('dialog'))
console.click('Remove', 'dialog')
ok(console.wait(lambda: psql(LIMIT) == ''), '... with its key', psql(LIMIT))

# --- a state that is held shows on the page of its machine
psql("SELECT sf_hold('press', 'Fold', 'the folder is broken')", 'retail')
console.go('#/machine/press')
ok(
    console.has('Held: press/Fold by retail') and console.has('the folder is broken'),
    'the page of a machine tells which state is held',
)
ok(
    [e.get_attribute('data-state') for e in console.find('.graph .held[data-state]')] == ['Fold'],
    '... in its picture, too',
)
console.click('Release…', '.notice')
console.click('Release', 'dialog')
ok(
    console.wait(lambda: psql('SELECT count(*) FROM sf_holds WHERE target = $$press$$') == '0'),
    '... and it is released there',
)
ok(console.wait(lambda: not console.find('.graph .held')), '... which the picture shows')

# --- hints of errors
psql(
    """CREATE FUNCTION public.with_hint() RETURNS void LANGUAGE plpgsql AS $f$
    BEGIN RAISE EXCEPTION 'the folder is missing' USING HINT = 'Mount the share, then redrive.'; END $f$;
    GRANT EXECUTE ON FUNCTION public.with_hint() TO retail"""
)
psql(
    """SELECT sf_create_state_machine('hints', '{"StartAt": "A", "States": {
    "A": {"Type": "Task", "Resource": "sql:public.with_hint", "End": true}}}'),
    sf_start('hints', '{}', 'x')""",
    'retail',
)
psql("CALL sf_wait('hints:x', '30 s')", 'retail')
console.go('#/tonight')
ok(console.has('Hint: Mount the share, then redrive.'), 'tonight has the hint of an error', console.text())
console.go('#/execution/hints%3Ax')
ok(console.has('Hint: Mount the share, then redrive.', '.side'), 'so has the panel of the state', console.text())
console.is_quiet('403 stop', '400 plan_schedule', '400 test_pattern', '404 schedule', '404 plan_limit')
console.close()
