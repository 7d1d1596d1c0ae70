"""Two executions beside each other, and the last runs of a machine.

    compare.py URL FOLDER
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
ROWS = (
    "return [...document.querySelectorAll('table')].find(t => t.caption?.textContent === "
    "'Jobs')?.tBodies[0].rows.length ?? 0"
)
# The cells of a job by the titles of their columns.
CELLS = """const row = [...document.querySelectorAll('td[data-label=Job]')]
    .find(e => e.innerText === arguments[0])?.parentElement;
return Object.fromEntries([...(row?.cells ?? [])].map(c => [c.dataset.label, c.innerText.trim()]))"""

press = console.press

# --- from an execution to what is different from the last good run
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)
failed = psql(
    "SELECT job_id FROM sf_jobs WHERE execution_id = 'nightly:20250205' AND job_status = 'failure' AND error IS "
    "NOT NULL LIMIT 1"
)
skipped = psql("SELECT job_id FROM sf_jobs WHERE execution_id = 'nightly:20250205' AND job_status = 'skip' LIMIT 1")
good = psql("SELECT execution_id FROM sf_list_executions('nightly', 'SUCCEEDED', page_size => 1)")
jobs = int(psql("SELECT count(*) FROM sf_compare('" + good + "', 'nightly:20250205')"))
console.go('#/execution/nightly%3A20250205')
console.click('Compare with the last good run', '.title')
ok(
    console.has('the last good run') and console.has(good),
    'an execution is compared with the last good run',
    console.text(),
)
cells = console.run(CELLS, failed)
ok(
    cells.get('Other run') == 'success' and cells.get('This run') == 'failure' and cells.get('Error'),
    'the job that failed now, and not then',
    cells,
)
cells = console.run(CELLS, skipped)
ok(
    cells.get('Other run') == 'success' and cells.get('This run') == 'skipped',
    '... and one that was not reached',
    cells,
)
ok(
    console.run("return [...document.querySelectorAll('section h2')].map(e => e.textContent)")[1:]
    == ['Timeline of the other run', 'Timeline of this run'],
    'both timelines are there',
)
ok(
    console.run(
        """const ms = [...document.querySelectorAll('.timeline')].map(t =>
        [...t.querySelectorAll('.bar')].reduce((most, b) =>
    Math.max(most, parseFloat(b.style.left) + parseFloat(/[\\d.]+%/.exec(b.style.width)?.[0] ?? 0)), 0));
    return Math.max(...ms) <= 100.5 && Math.max(...ms) > 90"""
    ),
    '... and the longer one has the whole width',
)
ENDS = (
    "return [...document.querySelectorAll('.timeline')].map(t => "
    "parseFloat([...t.querySelectorAll('.t-tick')].at(-1).style.left))"
)
LASTED = (
    """SELECT extract(epoch FROM max("timestamp") - min("timestamp") FILTER (WHERE state IS NOT NULL)) FROM """
    """sf_history WHERE execution_id = '{}'"""
)
ends = console.run(ENDS)
lasted = [float(psql(LASTED.format(run))) for run in (good, 'nightly:20250205')]
ok(
    console.find('.t-gap') or abs(ends[0] / ends[1] * lasted[1] / lasted[0] - 1) < 0.3,
    '... in one scale',
    (ends, lasted),
)
differ = console.run(ROWS)
ok(0 < differ <= jobs, f'{differ} of {jobs} jobs differ')
console.find('label.tick input')[0].click()
ok(console.wait(lambda: console.run(ROWS) == jobs), 'all of them can be seen', console.run(ROWS))
console.picture('compare', 1280, False)

# --- another execution, typed
field = console.find('input[name=a]')[0]
field.clear()
field.send_keys('nightly:20250202' + Keys.ENTER)
ok(
    console.wait(lambda: 'a=nightly%3A20250202' in console.run('return location.hash'))
    and console.has('the other run', 'table'),
    'another one is chosen by its id',
    console.text(),
)
ok(console.wait(lambda: len(console.find('#others option')) >= 4), 'the last runs are proposed')
ok(console.run(CELLS, failed).get('Other run') == 'success', 'it is compared with that one')
console.click('With the last good run')
ok(
    console.wait(lambda: 'a=' not in console.run('return location.hash')) and console.has('the last good run', 'table'),
    '... and again with the last good one',
)
console.go('#/compare/nightly%3A20250205?a=nightly%3Anone')
ok(console.has('execution "nightly:none" does not exist'), 'one that does not exist', console.text())
console.go('#/compare/nightly%3Anone')
ok(console.has('does not exist, or you may not read it'), '... on either side', console.text())
psql(
    """SELECT sf_create_state_machine('fresh', '{"StartAt": "F", "States": {"F": {"Type": "Fail", """
    """"Error": "Sad"}}}'), sf_start('fresh', '{}', 'x')""",
    'retail',
)
psql("CALL sf_wait('fresh:x', '50 s')", 'retail')
console.go('#/compare/fresh%3Ax')
ok(console.has('No run before this one has succeeded'), 'a machine without a good run', console.text())
console.is_quiet('404 compare')

# --- what differs is listed at JSON pointers
psql(
    """SELECT sf_create_state_machine('differ', '{"StartAt": "A", "States": {"A": {"Type": "Task",
        "Resource": "sql:query",
    "Parameters": {"Statement": "SELECT $1::jsonb AS r", "Arguments.$": "$.r"}, "ResultPath": "$.out",
        "End": true}}}')""",
    'retail',
)
psql(
    """SELECT sf_start('differ', jsonb_build_object('r', jsonb_build_array(jsonb_object_agg('k' || i, i * n))),
        'x' || n)
    FROM generate_series(1, 2) AS n, generate_series(1, 30) AS i GROUP BY n""",
    'retail',
)
psql("CALL sf_wait('differ:x1', '50 s')", 'retail')
psql("CALL sf_wait('differ:x2', '50 s')", 'retail')
console.go('#/compare/differ%3Ax2?a=differ%3Ax1')
ok(
    console.has('/r/0/k1') and console.has('17 further places, and there are more'),
    'the places at which outputs differ, the first ones',
    console.text(),
)

# --- the grid
console.go('#/machine/nightly')
ok(not console.find('#grid'), 'the page of a machine asks for no grid')
console.click('Last runs')
ok(
    console.wait(lambda: len(console.find('#grid thead a')) == 5),
    'the last runs of a machine: a column for each',
    console.text(),
)
LABELS = "return [...document.querySelectorAll(arguments[0])].map(e => e.getAttribute('aria-label'))"
labels = console.run(LABELS, '#grid tbody a')
ok(
    any(x.startswith(f'{failed} in 20250205: failure') for x in labels),
    'the cell of a job that failed says so',
    labels[-12:],
)
ok(any(x.startswith(f'{skipped} in 20250205: skipped') for x in labels), '... and that of one that was skipped')
ok(
    console.run(LABELS, '#grid thead a')[-1].startswith('nightly:20250205: Failed')
    and console.run(LABELS, '#grid thead a')[0].startswith('nightly:20250201'),
    'the newest is on the right',
)
HEIGHTS = """return [...document.querySelectorAll('#grid tbody tr')].filter(row => row.querySelector('.success'))
    .map(row => [...row.querySelectorAll('.g-bar, .g-usual')].map(b => parseFloat(b.style.height || b.style.bottom)))"""
heights = console.run(HEIGHTS)
ok(
    all(99 < max(row) <= 100 or max(row) == 6 for row in heights),
    'a bar is as high as its job was long, compared with the longest in the row',
    heights,
)
ok(
    console.run(
        "return new Set(['success', 'failure', "
        "'skip'].map(s => getComputedStyle(document.querySelector(`.g-cell.${s} .g-bar`)).background)).size"
    )
    == 3,
    'statuses differ by colour',
)
ok(
    console.run(
        "return [...document.querySelectorAll('#grid .g-cell.failure a, "
        "#grid .g-cell.skip a')].every(e => e.querySelector('svg'))"
    ),
    '... and by shape',
)
console.picture('grid', 1280, False)

# by keyboard
ok(len(console.find('#grid [tabindex="0"]')) == 1, 'the Tab key stops once in the grid')
console.run("document.querySelector('#grid [tabindex=\"0\"]').focus()")
press(Keys.ARROW_DOWN)
first = console.run("return document.activeElement.getAttribute('aria-label')")
ok(' in 20250205: ' in first, 'down leads to the first job of the newest run', first)
press(Keys.ARROW_LEFT)
left = console.run("return document.activeElement.getAttribute('aria-label')")
ok(' in 20250204: ' in left and len(console.find('#grid [tabindex="0"]')) == 1, 'left to the run before', left)
press(Keys.HOME)
ok(
    ' in 20250201: ' in console.run("return document.activeElement.getAttribute('aria-label')"),
    'Home to the oldest',
    console.run("return document.activeElement.getAttribute('aria-label')"),
)
press(Keys.END)
ok(console.run("return document.activeElement.getAttribute('aria-label')") == first, 'End to the newest again')
press(Keys.PAGE_DOWN)
ok(
    console.run(
        "return document.activeElement.closest('tr') === [...document.querySelectorAll('#grid tbody tr')].at(-1)"
    ),
    'Page Down ends at the last job',
)
press(Keys.PAGE_UP)
ok(console.run("return document.activeElement.closest('thead') !== null"), 'Page Up ends at the runs')
press(Keys.ARROW_DOWN)

# what is new comes in, and the focus stays
psql("""SELECT sf_start('nightly', '{"id": "20250206"}')""", 'retail')
ok(console.wait(lambda: len(console.find('#grid thead a')) == 6), 'a run that begins is in the grid')
# how long the job usually takes may be another time by now
same = console.run("return document.activeElement.getAttribute('aria-label')").split(':')[0] == first.split(':')[0]
ok(same, '... and the focus stays where it was', [first, console.run("return document.activeElement.outerHTML")])
console.wait(lambda: psql("SELECT status FROM sf_executions WHERE execution_id = 'nightly:20250206'") != 'RUNNING')
state = first.split(' in ')[0]
press(Keys.ENTER)
ok(
    console.wait(
        lambda: console.run('return location.hash').startswith('#/execution/nightly%3A20250205')
        and console.text('#h-state') == state
    ),
    'Enter opens the execution with the job',
    console.run('return location.hash'),
)
console.go('#/machine/fresh?tab=runs')
ok(console.wait(lambda: len(console.find('#grid thead a')) == 1), 'a machine without jobs has its runs')

# --- a net of 100 jobs, of which 31 runs are there
psql(
    """SELECT sf_create_state_machine('wide', (SELECT json_build_object('StartAt', 'N', 'States',
        json_build_object('N', json_build_object('Type', 'JobNet', 'End', true,
    'ResultPath', null, 'Jobs', json_object_agg('J' || i,
        '{"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 AS one"}}'::json))))
    FROM generate_series(1, 100) AS i))""",
    'retail',
)
for run in range(1, 32):
    psql(f"SELECT sf_start('wide', '{{}}', 'w{run}')", 'retail')
psql("CALL sf_wait('wide:w31', '100 s')", 'retail')
console.go('#/machine/wide?tab=runs')
ok(
    console.wait(
        lambda: len(console.find('#grid thead a')) == 30
        and console.run("return document.querySelectorAll('#grid tbody a').length") == 3000
    ),
    'a grid of 30 runs and 100 jobs',
)
console.run("document.querySelector('#grid tbody tr:nth-child(50) td:nth-child(20) a').focus()")
focused = console.run("return document.activeElement.getAttribute('aria-label').split(':')[0]")
console.run("document.querySelector('#grid tbody').kept = true")
psql("SELECT sf_start('wide', '{}', 'w32')", 'retail')
ok(
    console.wait(
        lambda: 'wide:w32' in console.run(LABELS, '#grid thead a')[-1]
        and 'wide:w3:' in console.run(LABELS, '#grid thead a')[0]
    ),
    'a new run comes in on the right, and the oldest goes',
    console.run(LABELS, '#grid thead a'),
)
ok(
    console.run("return document.activeElement.getAttribute('aria-label')?.split(':')[0]") == focused,
    '... and the focus stays at its run',
    (focused, console.run("return document.activeElement.outerHTML.slice(0, 200)")),
)

# --- rights: what one may not read looks as if it did not exist
psql("CREATE ROLE reader LOGIN PASSWORD 'reader-secret'")
psql("SELECT sf_grant('READ', 'nightly', 'reader')", 'retail')
console.sign_out()
console.sign_in('reader', 'reader-secret')
console.go('#/compare/nightly%3A20250205')
ok(
    console.has('the last good run') and console.run(ROWS) > 0,
    'a role that may read the machine compares',
    console.text(),
)
console.go('#/compare/nightly%3A20250205?a=fresh%3Ax')
ok(console.has('execution "fresh:x" does not exist'), '... and with nothing that it may not read', console.text())

# --- narrow, and dark
for width, dark in ((400, False), (1280, True)):
    console.view(width, dark)
    for page, address in (('compare', '#/compare/nightly%3A20250205'), ('grid', '#/machine/nightly?tab=runs')):
        console.go(address)
        console.wait(lambda: console.run(ROWS) > 0 or console.find('#grid thead a'))
        console.picture(page, width, dark)
        ok(
            console.run('return document.documentElement.scrollWidth <= innerWidth + 1'),
            f"{page}: nothing is wider than a window of {width}",
        )
console.is_quiet('404 compare')
console.close()
