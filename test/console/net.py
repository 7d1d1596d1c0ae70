"""The critical path of a net in the picture of an execution.

    net.py URL FOLDER
"""
import sys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
psql("""CREATE FUNCTION public.takes(seconds float8) RETURNS void LANGUAGE sql AS 'SELECT FROM pg_sleep(seconds)'""")
psql(
    """GRANT EXECUTE ON FUNCTION public.takes(float8) TO retail;
    SELECT sf_create_state_machine('paths',
        '{"StartAt": "Net", "States": {"Net": {"Type": "JobNet", "End": true, "Jobs": {
    "load": {"Type": "Task", "Resource": "sql:public.takes", "Parameters": {"seconds": 0.1}},
    "quick": {"Type": "Task", "Resource": "sql:public.takes", "Parameters": {"seconds": 0}, "After": ["load"]},
    "flow": {"StartAt": "one", "After": ["load"], "States": {"one": {"Type": "Task", "Resource": "sql:public.takes",
        "Parameters": {"seconds": 0.2}, "Next": "two"},
        "two": {"Type": "Pass", "End": true}}},
    "last": {"Type": "Task", "Resource": "sql:public.takes", "Parameters": {"seconds": 0.1}, "After": ["load",
        "quick", "flow"]},
    "alarm": {"Type": "Task", "Resource": "sql:public.takes", "Parameters": {"seconds": 0}, "After": [{"Job": "last",
        "On": ["failure"]}]}}}}}')""",
    'retail',
)
psql("SELECT sf_start('paths', '{}', 'one')", 'retail')
ok(psql("SELECT sf_await('paths:one', '120 s')") == 'SUCCEEDED', 'a net has ended')

STATES = "return [...document.querySelectorAll('.graph .state.critical')].map(e => e.dataset.state).sort().join(' ')"
console.sign_in('retail', 'retail-secret')
console.go('#/execution/paths%3Aone')
ok(
    console.wait(lambda: console.run(STATES) == 'last load'),
    'the jobs of its critical path that are states stand out',
    console.run(STATES),
)
ok(len(console.find('.graph .branch.critical')) == 1, '... and the one that is a flow of states')
# the line from the first job to the last one joins two jobs of the path, and is none of it
ok(
    len(console.find('.graph .edges .critical')) == 2,
    '... and the lines between them',
    len(console.find('.graph .edges .critical')),
)
WIDTHS = """return ['.state.critical > .box', '.state:not(.critical) > .box', '.edges .critical .line',
    '.edges g:not(.critical) .line', '.branch.critical']
    .map(s => parseFloat(getComputedStyle(document.querySelector('.graph ' + s)).strokeWidth))"""
box, other_box, line, other_line, frame = console.run(WIDTHS)
ok(box > other_box and line > 2 * other_line and frame > other_box, 'their lines are bold', console.run(WIDTHS))
LABEL = "return document.querySelector('.graph [data-state=load] > title').textContent"
ok('on the critical path' in console.run(LABEL), 'words say so, too', console.run(LABEL))
for dark in (False, True):
    console.view(1280, dark)
    console.picture('net', 1280, dark)
console.close()
