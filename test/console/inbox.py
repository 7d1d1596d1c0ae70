"""The inbox: tasks of people by keyboard alone, what is refused, and axe-core in light and dark.

    inbox.py URL FOLDER AXE
"""
import json
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
with open(sys.argv[3], encoding='utf-8') as file:
    AXE = file.read()
FOCUSED = 'return document.activeElement.innerText.trim()'
LABELLED = """return [...document.querySelectorAll('.answer label')]
    .find(e => e.firstChild.textContent === arguments[0])
    .parentElement.querySelector('input, select, textarea')"""

press = console.press


def tab_to(condition, what):
    """Press Tab, at most 60 times, until the focus is where a condition holds."""
    console.tab_to(condition, what, 60)


def tab_to_button(words):
    """Press Tab until the focus is at a button or a link."""
    tab_to(
        f"return ['BUTTON', 'A'].includes(document.activeElement.nodeName) && "
        f"document.activeElement.innerText.trim() === {json.dumps(words)}",
        words,
    )


def tab_to_field(label):
    """Press Tab until the focus is in a field of the answer."""
    tab_to(
        f"return document.activeElement.closest('.field')?.querySelector('label')?.firstChild.textContent === "
        f"{json.dumps(label)}",
        label,
    )


def wrong(label):
    """The error that is shown at a field."""
    return console.run(f"{LABELLED}.closest('.field').querySelector('.wrong').innerText", label)


def task_of(name):
    """The number of the task for which an execution waits."""
    console.wait(lambda: psql(f"SELECT count(*) FROM sf_human_tasks WHERE execution_id = 'purchase:{name}'") == '1')
    return psql(f"SELECT task FROM sf_human_tasks WHERE execution_id = 'purchase:{name}'")


def answer_of(name):
    """What has become of an execution."""
    psql(f"CALL sf_wait('purchase:{name}', '50 s')")
    return json.loads(
        psql(
            f"""SELECT jsonb_build_object('status', status, 'output', output, 'error', error)
        FROM sf_executions WHERE execution_id = 'purchase:{name}'"""
        )
    )


FORM = {
    'type': 'object',
    'required': ['approved', 'count'],
    'properties': {
        'approved': {'type': 'boolean', 'title': 'Approved'},
        'count': {'type': 'integer', 'title': 'Count', 'minimum': 1, 'maximum': 30, 'description': 'how many'},
        'price': {'type': 'number', 'title': 'Price'},
        'colour': {'enum': ['red', 'green', 7], 'title': 'Colour'},
        'day': {'type': 'string', 'format': 'date', 'title': 'Day'},
        'moment': {'type': 'string', 'format': 'date-time', 'title': 'Moment'},
        'mail': {'type': 'string', 'format': 'email', 'title': 'Mail'},
        'note': {'type': 'string', 'maxLength': 400, 'title': 'Note'},
        'tags': {'type': 'array', 'items': {'type': 'string', 'maxLength': 5}, 'title': 'Tags'},
        'address': {
            'type': 'object',
            'title': 'Address',
            'required': ['city'],
            'properties': {'city': {'type': 'string', 'title': 'City', 'minLength': 2}},
        },
        'rest': {'title': 'Rest'},
    },
}
psql(
    """CREATE ROLE clerks; CREATE ROLE anna LOGIN PASSWORD 'retail-secret' IN ROLE clerks;
    CREATE ROLE bob LOGIN PASSWORD 'retail-secret' IN ROLE clerks; CREATE ROLE lead LOGIN PASSWORD 'retail-secret'"""
)
psql(f"""SELECT sf_create_worklist('approve', '{json.dumps(FORM)}'), sf_create_worklist('free')""", 'retail')
psql(
    """SELECT sf_grant('DO', 'human:' || w, 'clerks'), sf_grant('ASSIGN', 'human:' || w, 'lead'),
    sf_grant('DO', 'human:' || w, 'lead') FROM unnest('{approve,free}'::text[]) w""",
    'retail',
)
psql(
    """SELECT sf_create_state_machine('purchase', '{"StartAt": "Which", "States": {
    "Which": {"Type": "Choice", "Choices": [{"Variable": "$.free", "IsPresent": true, "Next": "Free"}],
        "Default": "Approve"},
    "Approve": {"Type": "Task", "Resource": "human:approve", "Parameters": {"Title.$": "$.title", "Data.$": "$",
      "Due.$": "$.due"}, "End": true},
    "Free": {"Type": "Task", "Resource": "human:free", "Parameters": {"NotBy": ["starter"]}, "End": true}}}')""",
    'retail',
)
psql("SELECT sf_grant('READ', 'purchase', 'anna'), sf_grant('START', 'purchase', 'anna')", 'retail')
psql(
    """SELECT sf_start('purchase', jsonb_build_object('title', 'Order ' || n, 'amount', 1200, 'due', 86400), n::text)
    FROM generate_series(1, 5) n""",
    'retail',
)
psql("""SELECT sf_start('purchase', '{"title": "Order late", "due": "2025-02-05T02:00:00Z"}', 'late')""", 'retail')
tasks = {name: task_of(name) for name in ('1', '2', '3', '4', '5', 'late')}

# --- the list, and a task that is claimed and completed, by keyboard alone
ok(console.sign_in('anna', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
console.run("document.querySelector('#menu a').focus()")
tab_to_button('Inbox')
press(Keys.ENTER)
ok(console.wait(lambda: len(console.find('.page-inbox tbody tr')) == 6), 'the inbox of a role', console.text())
ok(
    console.run("return document.querySelector('tbody tr').innerText").startswith('Order late'),
    'what is overdue comes first',
)
counts = console.run("return [...document.querySelectorAll('[role=tab]')].map(e => e.innerText.replace(/\\s+/g, ' '))")
ok(counts == ['For my roles 6', 'Mine 0', 'Overdue 1', 'All 6'], 'tabs with counts', counts)
console.picture('inbox', 1280, False)
tab_to("return document.activeElement.getAttribute('role') === 'tab'", 'the tabs')
press(Keys.ARROW_RIGHT)
ok(
    console.has('Nothing to do here') and 'which=mine' in console.run('return location.hash'),
    'an arrow key leads to the next tab',
    console.text(),
)
press(Keys.ARROW_RIGHT)
ok(
    console.wait(lambda: len(console.find('.page-inbox tbody tr')) == 1),
    '... and on to what is overdue',
    console.text(),
)
press(Keys.HOME)
console.wait(lambda: len(console.find('.page-inbox tbody tr')) == 6)
tab_to_button('Order 1')
press(Keys.ENTER)
ok(console.has('Order 1', 'h1') and console.find('.answer'), 'Enter opens a task, with its form', console.text())
ok(
    '1200' in console.text('.payload') and console.find('.graph-view'),
    'its data, and the picture of the execution',
    console.text(),
)
tab_to_button('Claim')
press(Keys.ENTER)
ok(console.wait(lambda: console.button('Release', '.title')), 'it is claimed', console.text())
ok(
    psql(f"SELECT claimed_by FROM sf_human_tasks WHERE task = {tasks['1']}") == 'anna',
    '... by the role that has signed in',
)

# the form: kinds of fields, and what is refused at its field
KINDS = f"const e = {LABELLED.removeprefix('return ')}; return [e.nodeName, e.type]"
kinds = {
    label: console.run(KINDS, label)
    for label in ('Approved', 'Count', 'Colour', 'Day', 'Moment', 'Mail', 'Note', 'Tags', 'City', 'Rest')
}
ok(
    kinds
    == {
        'Approved': ['SELECT', 'select-one'],
        'Count': ['INPUT', 'text'],
        'Colour': ['SELECT', 'select-one'],
        'Day': ['INPUT', 'date'],
        'Moment': ['INPUT', 'datetime-local'],
        'Mail': ['INPUT', 'email'],
        'Note': ['TEXTAREA', 'textarea'],
        'Tags': ['TEXTAREA', 'textarea'],
        'City': ['INPUT', 'text'],
        'Rest': ['TEXTAREA', 'textarea'],
    },
    'each kind of value has its field',
    kinds,
)
ok(
    console.run(f"{LABELLED}.closest('.field').innerText", 'Count') == 'Count (required)\n1 to 30'
    or '1 to 30' in console.run(f"{LABELLED}.closest('.field').innerText", 'Count'),
    '... with its limits',
)
ok(console.run("return document.querySelector('.answer fieldset legend').innerText") == 'Address', 'objects are groups')
tab_to_field('Approved')
press('y')
tab_to_field('Count')
press('31', Keys.ENTER)
ok(
    console.wait(lambda: wrong('Count') == 'is greater than 30'),
    'Enter sends the form, and what does not fit is said at its field',
    console.text('.answer'),
)
ok(
    console.run(
        f"{LABELLED} === document.activeElement && document.activeElement.getAttribute('aria-invalid') === 'true'",
        'Count',
    ),
    '... which has the focus',
)
press(Keys.BACKSPACE, Keys.BACKSPACE, 'x', Keys.ENTER)
ok(console.wait(lambda: 'is not of type' in wrong('Count')), '... also what is no number', wrong('Count'))
press(Keys.BACKSPACE, '3')
tab_to_field('Price')
press('12345678901234567890.1234567890')
tab_to_field('Colour')
press('7')
tab_to_field('Mail')
press('nobody')
tab_to_field('Tags')
press('one', Keys.ENTER, 'tooooo')
tab_to_field('City')
press('X')
tab_to_field('Rest')
press('{"a"')
tab_to_button('Complete')
press(Keys.ENTER)
ok(
    console.wait(lambda: wrong('Rest') == 'is no JSON') and wrong('Count') == '',
    'JSON that is none',
    console.text('.answer'),
)
press(': [1]}')
mended = {'City': 'X', 'Mail': '@example.org', 'Tags': Keys.BACKSPACE}
refused = []
for _ in mended:
    tab_to_button('Complete')
    press(Keys.ENTER)
    seen = console.wait(
        lambda: console.run("return document.querySelectorAll('.answer [aria-invalid]').length") == 1
        and console.run("return document.activeElement.getAttribute('aria-invalid') === 'true'")
    )
    at = console.run("return document.activeElement.closest('.field')?.querySelector('label').firstChild.textContent")
    refused.append((at, wrong(at) if seen else console.text('.answer')))
    if at not in mended:
        break
    press(Keys.CONTROL + Keys.END, Keys.NULL)
    press(mended[at])
ok(
    sorted(at for at, _ in refused) == ['City', 'Mail', 'Tags'],
    'members of objects, formats and elements are refused at their fields',
    refused,
)
ok(any(at == 'Tags' and words.startswith('/1 ') for at, words in refused), '... an element with its place', refused)
console.is_quiet('400 complete_task')
tab_to_field('Day')
press('05022025')
tab_to("return document.activeElement.name === 'comment'", 'the comment')
press('a good customer', Keys.ENTER)
ok(
    console.wait(lambda: console.run('return location.hash').startswith('#/inbox')),
    'Enter completes it, and leads back to the inbox',
    console.text('.answer'),
)
ok(console.wait(lambda: console.text('#said') == 'Completed.'), '... which is read aloud', console.text('#said'))
done = answer_of('1')
ok(
    done['output']['By'] == 'anna' and done['output']['Comment'] == 'a good customer',
    'the execution has who has answered, and why',
    done,
)
exact = psql("SELECT output -> 'Output' ->> 'price' FROM sf_executions WHERE execution_id = 'purchase:1'")
ok(exact == '12345678901234567890.1234567890', 'numbers keep their digits', exact)
given = done['output']['Output']
given.pop('price')
ok(
    given
    == {
        'approved': True,
        'count': 3,
        'colour': 7,
        'mail': 'nobody@example.org',
        'tags': ['one', 'toooo'],
        'address': {'city': 'XX'},
        'rest': {'a': [1]},
        'day': given.get('day'),
    }
    and given.get('day', '').startswith('2025-0'),
    '... and the answer what was entered',
    given,
)
console.is_quiet('400 complete_task')

# --- what others do
psql(f"SELECT sf_claim_task({tasks['2']})", 'bob')
console.go(f"#/task/{tasks['2']}")
ok(
    console.has('Claimed by bob') and not console.find('.answer'),
    'a task that another one has claimed says who',
    console.text(),
)
console.go(f"#/task/{tasks['3']}")
console.wait(lambda: console.find('.answer'))
console.run(f"{LABELLED}.focus()", 'Note')
press('half written')
psql(f"SELECT sf_change_task({tasks['3']}, priority => 4)", 'retail')
ok(
    console.has('Priority', '.facts') and console.run(f"{LABELLED}.value", 'Note') == 'half written',
    'what is typed stays while the page changes',
)
console.run(
    "window.real = window.fetch; window.fetch = (path, how) => path.endsWith('/task') || "
    "path.endsWith('/execution') || path.endsWith('/poll') ? new Promise(() => {}) : window.real(path, how)"
)
psql(f"SELECT sf_claim_task({tasks['3']})", 'bob')
console.click('Claim', '.title')
console.run('window.fetch = window.real')
ok(console.has(f'task {tasks["3"]} is claimed by "bob"'), 'a claim that comes too late is told by whom', console.text())
psql(f"SELECT sf_stop('purchase:4')", 'retail')
console.go(f"#/task/{tasks['4']}")
ok(console.has('The task is over'), 'one that is over', console.text())
console.go(f"#/task/{tasks['5']}")
console.wait(lambda: console.find('.answer'))
psql("SELECT sf_stop('purchase:5')", 'retail')
ok(console.has('The task is over') and not console.find('.answer'), '... or ends while it is looked at', console.text())
console.is_quiet('400 claim_task')

# --- worklists that are held, four eyes, fail and assign
psql("SELECT sf_start('purchase', '{\"free\": 1}', 'eyes')", 'anna')
psql("SELECT sf_start('purchase', '{\"free\": 1}', 'fails')", 'retail')
eyes, fails = task_of('eyes'), task_of('fails')
console.go(f'#/task/{eyes}')
ok(
    console.has('names the starter') and not console.find('.answer') and not console.button('Claim', '.title'),
    'who must not do a task is told why',
    console.text(),
)
console.go(f'#/task/{fails}')
ok(console.wait(lambda: console.find('.answer textarea')), 'a worklist without a form takes any JSON', console.text())
psql("SELECT sf_hold('human:free', reason => 'stocktaking')", 'retail')
ok(
    console.has('is held since')
    and console.has('stocktaking')
    and console.wait(lambda: not console.button('Claim', '.title')),
    'a worklist that is held',
    console.text(),
)
psql("SELECT sf_release('human:free')", 'retail')
ok(console.wait(lambda: console.button('Fail…', '.title')), '... and is released')
console.run("[...document.querySelectorAll('.title button')].find(b => b.innerText === 'Fail…').focus()")
press(Keys.ENTER)
console.wait(lambda: console.find('dialog'))
ok(console.run('return document.activeElement.name') == 'error', 'the dialog begins in its first field')
press(Keys.ESCAPE)
ok(
    console.wait(lambda: not console.find('dialog')) and console.run(FOCUSED) == 'Fail…',
    'Escape ends it, and nothing has happened',
)
press(Keys.ENTER)
console.wait(lambda: console.find('dialog'))
press('Bad', Keys.TAB, 'no stock', Keys.ENTER)
ok(console.wait(lambda: console.run('return location.hash').startswith('#/inbox')), 'it fails', console.text())
ok(answer_of('fails')['error'] == 'Bad', '... with the error')

# --- an answer that comes when its page was left leads nowhere
psql("SELECT sf_start('purchase', '{\"free\": 1}', 'left')", 'retail')
console.hold_answers()
console.go(f"#/task/{task_of('left')}")
console.wait(lambda: console.find('.answer [type=submit]'))
console.hold('complete_task')
console.find('.answer [type=submit]')[0].click()
console.held()
console.run("location.hash = '#/machines'")
ok(console.has('Machines', 'h1'), 'a task is left while its answer is under way', console.text())
console.release()
ok(
    console.run('return location.hash') == '#/machines',
    '... which does not lead to the inbox then',
    console.run('return location.hash'),
)
ok(answer_of('left')['status'] == 'SUCCEEDED', '... although it is completed')

# --- who may assign
console.sign_out()
console.sign_in('lead', 'retail-secret')
console.go(f"#/task/{tasks['2']}")
console.wait(lambda: console.button('Assign…', '.title'))
console.run("[...document.querySelectorAll('.title button')].find(b => b.innerText === 'Assign…').focus()")
press(Keys.ENTER)
console.wait(lambda: console.find('dialog'))
press('nobody', Keys.ENTER)
ok(console.has('role "nobody" does not exist', 'dialog'), 'a role that does not exist', console.text('dialog'))
press(Keys.SHIFT + Keys.TAB)
console.run("document.querySelector('dialog input').select(); document.querySelector('dialog input').focus()")
press('anna', Keys.ENTER)
ok(
    console.wait(lambda: not console.find('dialog')) and console.has('Claimed by anna'),
    'who has ASSIGN gives it to another one',
    console.text(),
)
console.click('Release', '.title')
ok(console.wait(lambda: console.find('.answer')), '... and takes it back', console.text())
ok(
    not console.find('.graph-view') and not console.find('.facts a.id'),
    'who may not read the execution is shown no picture of it',
)
console.is_quiet('404 assign_task')

# --- alerts lead to the inbox
console.sign_out()
console.sign_in('retail', 'retail-secret')
console.go('#/alerts')
console.click('in the inbox')
ok(
    console.wait(lambda: 'which=overdue' in console.run('return location.hash')) and console.has('Order late'),
    'an alert leads to what is overdue',
    console.text(),
)
console.find('select[name=worklist]')[0].send_keys('free')
ok(
    console.has('Nothing to do here') and 'worklist=free' in console.run('return location.hash'),
    'one worklist',
    console.text(),
)

# --- axe-core, narrow and dark
for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
    console.view(width, dark)
    for page, address in (('inbox', '#/inbox?which=all'), ('task', f"#/task/{tasks['2']}")):
        console.go(address)
        console.wait(lambda: console.find('tbody tr') or console.find('.answer'))
        console.picture(page, width, dark)
        ok(
            console.run('return document.documentElement.scrollWidth <= innerWidth + 1'),
            f'{page}: nothing is wider than a window of {width}',
        )
        found = console.violations(AXE)
        ok(found == [], f"axe finds nothing: {page}, {width} pixels, {'dark' if dark else 'light'}", '\n'.join(found))
console.is_quiet()
console.close()
