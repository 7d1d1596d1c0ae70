"""Limits, calendars, rules and aliases changed with a preview, the definition as it is formatted, and the trace of
an execution;
by keyboard, and with axe-core.

    edit.py URL FOLDER AXE
"""
import sys

from selenium.webdriver.common.keys import Keys

from browser import Console, ok, psql

console = Console(sys.argv[1], sys.argv[2])
with open(sys.argv[3], encoding='utf-8') as file:
    AXE = file.read()


def open_dialog(words):
    """Open a dialog by its button."""
    console.run("document.querySelector('main h1').focus()")
    console.tab_to_button(words)
    console.press(Keys.ENTER)
    console.wait(lambda: console.find('dialog form'))


def write(name, words):
    """Write into a field of the dialog, in place of what it has."""
    console.wait(lambda: console.find(f'dialog [name={name}]'))
    console.run("document.querySelector(`dialog [name=${arguments[0]}]`).focus()", name)
    console.press(Keys.CONTROL + 'a')
    console.press(words)


def shows(text):
    """Wait for a text in the preview."""
    return console.wait(lambda: text in console.text('dialog .preview'))


def submit():
    """Press the button of the dialog, and wait until it is gone."""
    console.wait(lambda: console.find('dialog [type=submit]'))
    console.run("document.querySelector('dialog [type=submit]').focus()")
    console.press(Keys.ENTER)
    return console.wait(lambda: not console.find('dialog'))


psql(
    """SELECT sf_create_state_machine('edited',
      '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B", "Result": {"big": 12345678901234567890.10}},
        "B": {"Type": "Wait", "Seconds": 100000, "End": true}}}', options => '{"trace": {"sample": 1}}');
    SELECT sf_create_state_machine('edited',
        '{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 100000, "End": true}}}',
      or_replace => true, options => '{"trace": {"sample": 1}}');
    SELECT sf_grant('READ', 'edited', 'public')""",
    'retail',
)
psql("SELECT sf_start('edited', '{}', 'one'), sf_start('edited', '{}', 'two')", 'retail')
ok(console.sign_in('retail', 'retail-secret'), 'sign in', console.text()) or sys.exit(1)

# --- aliases
console.go('#/machine/edited?tab=versions')
open_dialog('New alias…')
ok(shows('With a name'), 'an alias: without a name there is no preview', console.text('dialog'))
write('alias', 'live')
ok(shows('100 of 100 starts: version 2'), 'what the alias would be', console.text('dialog'))
write('versions', '{"1": 90, "2": 20}')
ok(
    console.wait(lambda: console.find('dialog .preview .notice.bad')),
    'shares that are not 100 in all are refused before',
    console.text('dialog'),
)
write('versions', '{"1": 90, "2": 10}')
ok(shows('90 of 100 starts: version 1'), '... and mended', console.text('dialog'))
console.is_accessible(AXE, 'the question for an alias')
console.picture('alias', 1280, False)
ok(psql("SELECT count(*) FROM sf_aliases WHERE alias = 'live'") == '0', 'a preview sets nothing')
submit()
ok(
    psql("SELECT string_agg(version || ':' || percent, ' ' ORDER BY version) FROM sf_aliases WHERE alias = 'live'")
    == '1:90 2:10',
    'the alias is set',
)
console.has('live', 'main')
open_dialog('Change…')
write('versions', '{"2": 100}')
ok(shows('100 of 100 starts: version 2 (now 10)'), 'a change shows what is now', console.text('dialog'))
submit()
ok(psql("SELECT version || ':' || percent FROM sf_aliases WHERE alias = 'live'") == '2:100', '... and is made')
open_dialog('Remove…')
submit()
ok(psql("SELECT count(*) FROM sf_aliases WHERE alias = 'live'") == '0', 'the alias is removed')

# --- limits
console.go('#/machine/edited')
console.wait(
    lambda: psql("SELECT count(*) FROM sf_executions WHERE state_machine LIKE 'edited%' AND started_at IS NOT NULL")
    == '2'
)
open_dialog('New limit…')
write('max_running', '1')
ok(
    shows('2 run now, and 0 wait.') and 'That is 1 more than the limit' in console.text('dialog'),
    'a limit: what would come of it',
    console.text('dialog'),
)
ok(psql("SELECT count(*) FROM sf_limits WHERE target = 'edited'") == '0', '... before it is set')
submit()
ok(psql("SELECT max_running FROM sf_limits WHERE target = 'edited'") == '1', '... which it then is')

# --- the definition, formatted or as it was written
console.go('#/machine/edited?version=1')
ok(
    console.wait(lambda: len(console.find('pre .line')) > 8)
    and '      "Result": {"big": 12345678901234567890.10}'
    in console.run("return document.querySelector('pre').textContent"),
    'a definition is formatted, and its numbers keep their digits',
    console.text('pre'),
)
console.run("document.querySelector('main h1').focus()")
console.tab_to_button('As it was written')
console.press(Keys.ENTER)
ok(console.wait(lambda: len(console.find('pre .line')) == 2), '... or as it was written', console.text('pre'))
console.press(Keys.ENTER)
ok(console.wait(lambda: len(console.find('pre .line')) > 8), '... and back')
console.run("document.querySelector('.graph-view [tabindex=\"0\"]').focus()")
console.press(Keys.ARROW_DOWN)
console.press(Keys.ENTER)
ok(
    console.wait(lambda: console.find('pre .marked')),
    'a state that is chosen in the picture with keys is marked in the text',
    console.run('return location.hash'),
)
console.is_accessible(AXE, 'a definition')

# --- the trace
console.go('#/execution/edited%3Aone')
trace = psql("SELECT trace_id FROM sf_traces WHERE execution_id = 'edited:one'")
ok(len(trace) == 32 and console.has(trace), 'the trace of an execution', console.text())

# --- calendars
console.go('#/schedules')
open_dialog('New calendar…')
write('name', 'shop')
write('rule', '{"Weekdays": ["MON"')
ok(
    console.wait(lambda: console.find('dialog .preview .notice.bad')),
    'a calendar: what is no JSON is told',
    console.text('dialog'),
)
write('rule', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SAT"]}')
ok(
    console.wait(lambda: console.text('dialog .preview').count('Sun') in (8, 9)),
    'the days that would be closed',
    console.text('dialog'),
)
console.is_accessible(AXE, 'the question for a calendar')
submit()
ok(
    psql("SELECT rule ->> 'Weekdays' FROM sf_calendars WHERE calendar = 'shop'")
    == '["MON", "TUE", "WED", "THU", "FRI", "SAT"]',
    'it is made',
)
console.wait(
    lambda: console.run(
        "return Boolean([...document.querySelectorAll('button')].find(b => b.getAttribute('aria-label') === "
        "'Edit shop'))"
    )
)
console.run("document.querySelector('[aria-label=\"Edit shop\"]').focus()")
console.press(Keys.ENTER)
write('days', '{"OpenDays": [-1]}')
ok(shows('Picked:'), 'the days that it picks', console.text('dialog'))
submit()
ok(psql("SELECT days FROM sf_calendars WHERE calendar = 'shop'") == '{"OpenDays": [-1]}', 'it is changed')
console.run("document.querySelector('[aria-label=\"Remove shop\"]').focus()")
console.press(Keys.ENTER)
submit()
ok(psql("SELECT count(*) FROM sf_calendars WHERE calendar = 'shop'") == '0', 'it is removed')

# --- rules
psql("""SELECT sf_create_rule('told', '{"source": ["aws.states"]}', 'edited', NULL, '$.id', 'skip')""", 'retail')
console.go('#/rules')
console.wait(lambda: console.find('[aria-label="Edit told"]'))
console.run("document.querySelector('[aria-label=\"Edit told\"]').focus()")
console.press(Keys.ENTER)
ok(shows('The pattern is valid.'), 'a rule that is changed', console.text('dialog'))
write('target', 'notify:news')
write('event', '{"source": "other"}')
ok(shows('does not match'), '... tries an event', console.text('dialog'))
console.is_accessible(AXE, 'the question for a rule')
submit()
told = psql("SELECT target FROM sf_rules WHERE rule_name = 'told'")
ok(told == 'notify:news', 'the rule is changed', told)

# --- who may only read
psql("CREATE ROLE reads_only LOGIN PASSWORD 'retail-secret'")
console.sign_out()
console.sign_in('reads_only', 'retail-secret')
console.go('#/machine/edited?tab=versions')
ok(
    console.has('version 2')
    and console.button('New alias…', 'main') is None
    and console.button('New limit…', 'main') is None,
    'a role that may only read is offered no change',
    console.text(),
)
console.is_quiet('400 plan_alias', '400 plan_calendar', '422 plan_calendar')
console.close()
