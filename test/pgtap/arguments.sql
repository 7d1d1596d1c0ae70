-- Every argument that is an interval, a count or a number, and every option: what is refused, and how.
-- needs: archive hold deadline limit event human trace node move
BEGIN;

-- call: what is called; expected: its SQLSTATE and message (a pattern), or 'ok'
CREATE TEMP TABLE cases (function text, argument text, call text, expected text);
INSERT INTO cases VALUES
-- durations
('sf_purge', 'older_than', $$SELECT sf_purge(NULL)$$, '22004 argument older_than must not be null'),
('sf_purge', 'older_than', $$SELECT sf_purge('-1 day')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('-1 microsecond')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('-1 mon')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('1 mon -31 days')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('1 year -364 days -31:00')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('-178000000 years')$$, 'SF012 argument older_than must not be negative'),
('sf_purge', 'older_than', $$SELECT sf_purge('1001 years')$$, 'SF012 argument older_than must be at most 1000 years'),
('sf_purge', 'older_than', $$SELECT sf_purge('178000000 years')$$, 'SF012 argument older_than must be at most 1000 years'),
('sf_purge', 'older_than', $$SELECT sf_purge('2147483647 days 2562047788:00:54')$$, 'SF012 argument older_than must be at most 1000 years'),
('sf_purge', 'older_than', $$SELECT sf_purge('1000 years')$$, 'ok'),
('sf_purge', 'older_than', $$SELECT sf_purge('1 day -1 hour')$$, 'ok'),
('sf_purge', 'max_executions', $$SELECT sf_purge('1 day', -1)$$, 'SF012 argument max_executions must not be negative'),
('sf_purge', 'max_executions', $$SELECT sf_purge('1 day', -2147483648)$$, 'SF012 argument max_executions must not be negative'),
('sf_purge', 'max_executions', $$SELECT sf_purge('1 day', 0)$$, 'ok'),
('sf_purge', 'max_executions', $$SELECT sf_purge('1 day', NULL)$$, 'ok'),
('sf_purge', 'max_executions', $$SELECT sf_purge('1 day', 2147483647)$$, 'ok'),
('sf_move_key', 'from_node', $$CALL sf_move_key('k', -1)$$, 'SF012 argument from_node must not be negative'),
('sf_move_key', 'from_node', $$CALL sf_move_key('k', -2147483648)$$, 'SF012 argument from_node must not be negative'),
('sf_move_key', 'from_node', $$CALL sf_move_key(NULL, 2147483647)$$, 'SF012 argument key must not be null if from_node is not'),
('sf_move_key', 'moved', $$CALL sf_move_key('k', NULL, -1)$$, '25001 sf_move_key() cannot be called in a transaction block%'),
('sf_purge_due', 'purged', $$CALL sf_purge_due(-1)$$, 'ok'),
('sf_all_executions', 'requested_after', $$SELECT sf_all_executions(requested_after => '-infinity')$$, 'ok'),
('sf_all_executions', 'requested_after', $$SELECT sf_all_executions(requested_after => 'infinity')$$, 'ok'),
('sf_all_executions', 'requested_before', $$SELECT sf_all_executions(requested_before => '-infinity')$$, 'ok'),
('sf_all_executions', 'requested_before', $$SELECT sf_all_executions(requested_before => 'infinity')$$, 'ok'),
('sf_all_executions', 'page_size', $$SELECT sf_all_executions(page_size => 0)$$, 'SF012 argument page_size must be at least 1'),
('sf_all_executions', 'page_size', $$SELECT sf_all_executions(page_size => 1001)$$, 'SF012 argument page_size must be at most 1000'),
('sf_all_executions', 'page_size', $$SELECT sf_all_executions(page_size => NULL)$$, 'ok'),
('sf_all_jobs', 'requested_after', $$SELECT sf_all_jobs(requested_after => '-infinity')$$, 'ok'),
('sf_all_jobs', 'requested_after', $$SELECT sf_all_jobs(requested_after => 'infinity')$$, 'ok'),
('sf_all_jobs', 'requested_before', $$SELECT sf_all_jobs(requested_before => '-infinity')$$, 'ok'),
('sf_all_jobs', 'requested_before', $$SELECT sf_all_jobs(requested_before => 'infinity')$$, 'ok'),
('sf_all_jobs', 'page_size', $$SELECT sf_all_jobs(page_size => 0)$$, 'SF012 argument page_size must be at least 1'),
('sf_all_jobs', 'page_size', $$SELECT sf_all_jobs(page_size => 1001)$$, 'SF012 argument page_size must be at most 1000'),
('sf_all_jobs', 'page_size', $$SELECT sf_all_jobs(page_size => NULL)$$, 'ok'),
('sf_all_night', 'since', $$SELECT sf_all_night('-infinity')$$, 'SF012 arguments since and until must be times, and since must not be after until'),
('sf_all_night', 'since', $$SELECT sf_all_night(NULL, NULL)$$, 'ok'),
('sf_all_night', 'until', $$SELECT sf_all_night(until => 'infinity')$$, 'SF012 arguments since and until must be times, and since must not be after until'),
('sf_all_night', 'until', $$SELECT sf_all_night(until => '294276-12-31 23:59:59Z')$$, 'ok'),
('sf_all_night', 'most', $$SELECT sf_all_night(most => -1)$$, 'SF012 argument most must not be negative'),
('sf_all_night', 'most', $$SELECT sf_all_night(most => NULL)$$, 'ok'),
('sf_add_node', 'node', $$SELECT sf_add_node(-1, 'n')$$, 'SF012 argument node must not be negative'),
('sf_add_node', 'node', $$SELECT sf_add_node(2147483647, 'n')$$, 'SF012 argument node must be a number from 0 to 32767'),
('sf_add_node', 'node', $$SELECT sf_add_node(NULL, 'n')$$, 'SF012 argument node must be a number from 0 to 32767'),
('sf_drop_node', 'node', $$SELECT sf_drop_node(-1)$$, 'SF012 argument node must not be negative'),
('sf_drop_node', 'node', $$SELECT sf_drop_node(2147483647)$$, '42704 node 2147483647 does not exist'),
('sf_drop_node', 'node', $$SELECT sf_drop_node(NULL)$$, '42704 node 0 does not exist'),
('sf_set_node', 'node', $$SELECT sf_set_node(NULL)$$, 'SF012 argument node must be from 0 to 31'),
('sf_set_node', 'node', $$SELECT sf_set_node(-1)$$, 'SF012 argument node must be from 0 to 31'),
('sf_set_node', 'node', $$SELECT sf_set_node(-2147483648)$$, 'SF012 argument node must be from 0 to 31'),
('sf_set_node', 'node', $$SELECT sf_set_node(32)$$, 'SF012 argument node must be from 0 to 31'),
('sf_set_node', 'node', $$SELECT sf_set_node(2147483647)$$, 'SF012 argument node must be from 0 to 31'),
('sf_set_node', 'node', $$SELECT sf_set_node(31)$$, 'ok'),
('sf_start', 'priority', $$SELECT sf_start('m', priority => 1001)$$, 'SF012 argument priority must be from -1000 to 1000'),
('sf_start', 'priority', $$SELECT sf_start('m', priority => -1001)$$, 'SF012 argument priority must be from -1000 to 1000'),
('sf_start', 'priority', $$SELECT sf_start('m', priority => 1000)$$, 'ok'),
('sf_send_task_items', 'first', $$SELECT sf_send_task_items('token', '[]', -1)$$, 'SF012 argument first must not be negative'),
('sf_send_task_items', 'first', $$SELECT sf_send_task_items('token', '[]', -2147483648)$$, 'SF012 argument first must not be negative'),
('sf_set_limit', 'max_running', $$SELECT sf_set_limit('m', max_running => 0)$$, 'SF012 argument max_running must be at least 1'),
('sf_set_limit', 'max_running', $$SELECT sf_set_limit('m', max_running => -1)$$, 'SF012 argument max_running must be at least 1'),
('sf_set_limit', 'max_running', $$SELECT sf_set_limit('m', max_running => 1000001)$$, 'SF012 argument max_running must be at most 1000000'),
('sf_set_limit', 'max_running', $$SELECT sf_set_limit('m', max_running => 1000000)$$, 'ok'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => 0)$$, 'SF012 argument rate must be greater than 0 and at most 1000000 per second'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => -1)$$, 'SF012 argument rate must be greater than 0 and at most 1000000 per second'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => 'NaN')$$, 'SF012 argument rate must be greater than 0 and at most 1000000 per second'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => 'infinity')$$, 'SF012 argument rate must be greater than 0 and at most 1000000 per second'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => 10, per => '1 microsecond')$$, 'SF012 argument per must be at least a millisecond'),
('sf_set_limit', 'rate', $$SELECT sf_set_limit('m', rate => 1000000)$$, 'ok'),
('sf_set_limit', 'per', $$SELECT sf_set_limit('m', rate => 1, per => NULL)$$, '22004 argument per must not be null'),
('sf_set_limit', 'per', $$SELECT sf_set_limit('m', rate => 1, per => '-1 s')$$, 'SF012 argument per must not be negative'),
('sf_set_limit', 'per', $$SELECT sf_set_limit('m', rate => 1, per => '178000000 years')$$, 'SF012 argument per must be at most 1000 years'),
('sf_set_limit', 'per', $$SELECT sf_set_limit('m', rate => 1, per => '1 day')$$, 'ok'),
('sf_set_limit', 'on_limit', $$SELECT sf_set_limit('m', max_running => 1, on_limit => NULL)$$, '22004 argument on_limit must not be null'),
('sf_set_limit', 'on_limit', $$SELECT sf_set_limit('m', max_running => 1, on_limit => 'wait')$$, 'SF012 argument on_limit must be "queue" or "fail", not "wait"'),
('sf_set_limit', 'on_limit', $$SELECT sf_set_limit('m', max_running => 1, on_limit => 'fail')$$, 'ok'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', NULL)$$, '22004 argument timeout must not be null'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', '-1 ms')$$, 'SF012 argument timeout must not be negative'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', '-1 mon')$$, 'SF012 argument timeout must not be negative'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', '178000000 years')$$, 'SF012 argument timeout must be at most 1000 years'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', '0')$$, 'ok'),
('sf_await', 'timeout', $$SELECT sf_await('m:1', '1000 years')$$, 'ok'),
('sf_wait_change', 'timeout', $$CALL sf_wait_change(0, '-1 ms', NULL)$$, 'SF012 argument timeout must not be negative'),
('sf_wait_change', 'timeout', $$CALL sf_wait_change(0, '178000000 years', NULL)$$, 'SF012 argument timeout must be at most 1000 years'),
('sf_wait_change', 'seen', $$CALL sf_wait_change(-9223372036854775808, '0', NULL)$$, '% sf_wait_change cannot wait while a query holds a snapshot'),
('sf_wait_change', 'seen', $$CALL sf_wait_change(9223372036854775807, '0', NULL)$$, '% sf_wait_change cannot wait while a query holds a snapshot'),
('sf_wait_change', 'change', $$CALL sf_wait_change(NULL, '0', NULL)$$, '% sf_wait_change cannot wait while a query holds a snapshot'),
('sf_wait', 'timeout', $$CALL sf_wait('m:1', '-1 ms')$$, 'SF012 argument timeout must not be negative'),
('sf_wait', 'timeout', $$CALL sf_wait('m:1', '178000000 years')$$, 'SF012 argument timeout must be at most 1000 years'),
('sf_create_event', 'ttl', $$SELECT sf_create_event('v0', ttl => '0')$$, 'ok'),
('sf_create_event', 'ttl', $$SELECT sf_create_event('v1', ttl => '1000 years')$$, 'ok'),
('sf_create_event', 'ttl', $$SELECT sf_create_event('v2', ttl => '-1 s')$$, 'SF012 argument ttl must not be negative'),
('sf_create_event', 'ttl', $$SELECT sf_create_event('v3', ttl => '178000000 years')$$, 'SF012 argument ttl must be at most 1000 years'),
('sf_create_event', 'remember_ids', $$SELECT sf_create_event('vr0', remember_ids => '0')$$, 'ok'),
('sf_create_event', 'remember_ids', $$SELECT sf_create_event('vr1', remember_ids => '1000 years')$$, 'ok'),
('sf_create_event', 'remember_ids', $$SELECT sf_create_event('vr2', remember_ids => '-1 s')$$, 'SF012 argument remember_ids must not be negative'),
('sf_create_event', 'remember_ids', $$SELECT sf_create_event('vr3', remember_ids => '178000000 years')$$, 'SF012 argument remember_ids must be at most 1000 years'),
('sf_emit', 'ttl', $$SELECT sf_emit('v0', 'k', ttl => '0')$$, 'ok'),
('sf_emit', 'ttl', $$SELECT sf_emit('v0', 'k', ttl => '1000 years')$$, 'ok'),
('sf_emit', 'ttl', $$SELECT sf_emit('v0', 'k', ttl => '-1 s')$$, 'SF012 argument ttl must not be negative'),
('sf_emit', 'ttl', $$SELECT sf_emit('v0', 'k', ttl => '178000000 years')$$, 'SF012 argument ttl must be at most 1000 years'),
('sf_take_spans', 'lease', $$SELECT count(*) FROM sf_take_spans(1, '0')$$, 'ok'),
('sf_take_spans', 'lease', $$SELECT count(*) FROM sf_take_spans(1, NULL)$$, 'ok'),
('sf_take_spans', 'lease', $$SELECT count(*) FROM sf_take_spans(1, '1000 years')$$, 'ok'),
('sf_take_spans', 'lease', $$SELECT count(*) FROM sf_take_spans(1, '-1 s')$$, 'SF012 argument lease must not be negative'),
('sf_take_spans', 'lease', $$SELECT count(*) FROM sf_take_spans(1, '178000000 years')$$, 'SF012 argument lease must be at most 1000 years'),
('sf_take_spans', 'max_executions', $$SELECT count(*) FROM sf_take_spans(NULL)$$, 'ok'),
('sf_take_spans', 'max_executions', $$SELECT count(*) FROM sf_take_spans(2147483647)$$, 'ok'),
('sf_take_spans', 'max_executions', $$SELECT count(*) FROM sf_take_spans(0)$$, 'SF012 argument max_executions must be at least 1'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '-1 s')$$, 'SF012 argument lease must not be negative'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '1 mon -32 days')$$, 'SF012 argument lease must not be negative'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '0')$$, 'SF012 argument lease must be at least a millisecond'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '1 microsecond')$$, 'SF012 argument lease must be at least a millisecond'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '178000000 years')$$, 'SF012 argument lease must be at most 1000 years'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a2', '1 year 1 mon 1.0005 s')$$, 'ok'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a2', '1 year 1 mon 1.0005 s')$$, 'ok'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a2', '1 min')$$, 'SF026 activity "a2" exists with other settings%'),
('sf_create_activity', 'lease', $$SELECT sf_create_activity('a3', NULL)$$, 'ok'),
('sf_create_activity', 'max_receive_count', $$SELECT sf_create_activity('a1', '1 min', 0)$$, 'SF012 argument max_receive_count must be at least 1'),
('sf_create_activity', 'max_receive_count', $$SELECT sf_create_activity('a1', '1 min', -2147483648)$$, 'SF012 argument max_receive_count must be at least 1'),
('sf_create_activity', 'max_receive_count', $$SELECT sf_create_activity('a1', NULL, 3)$$, 'SF012 argument max_receive_count needs a lease'),
('sf_create_activity', 'max_receive_count', $$SELECT sf_create_activity('a4', '1 min', 2147483647)$$, 'ok'),
-- times
('sf_claim_task', 'task', $$SELECT sf_claim_task(0)$$, 'SF063 task 0 does not exist, or is over'),
('sf_claim_task', 'task', $$SELECT sf_claim_task(-9223372036854775808)$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_claim_task', 'task', $$SELECT sf_claim_task(9223372036854775807)$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_release_task', 'task', $$SELECT sf_release_task(0)$$, 'SF063 task 0 does not exist, or is over'),
('sf_release_task', 'task', $$SELECT sf_release_task(-9223372036854775808)$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_release_task', 'task', $$SELECT sf_release_task(9223372036854775807)$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_complete_task', 'task', $$SELECT sf_complete_task(0)$$, 'SF063 task 0 does not exist, or is over'),
('sf_complete_task', 'task', $$SELECT sf_complete_task(-9223372036854775808)$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_complete_task', 'task', $$SELECT sf_complete_task(9223372036854775807)$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_fail_task', 'task', $$SELECT sf_fail_task(0)$$, 'SF063 task 0 does not exist, or is over'),
('sf_fail_task', 'task', $$SELECT sf_fail_task(-9223372036854775808)$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_fail_task', 'task', $$SELECT sf_fail_task(9223372036854775807)$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_assign_task', 'task', $$SELECT sf_assign_task(0, 'x')$$, 'SF063 task 0 does not exist, or is over'),
('sf_assign_task', 'task', $$SELECT sf_assign_task(-9223372036854775808, 'x')$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_assign_task', 'task', $$SELECT sf_assign_task(9223372036854775807, 'x')$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_change_task', 'task', $$SELECT sf_change_task(0)$$, 'SF063 task 0 does not exist, or is over'),
('sf_change_task', 'task', $$SELECT sf_change_task(-9223372036854775808)$$, 'SF063 task -9223372036854775808 does not exist, or is over'),
('sf_change_task', 'task', $$SELECT sf_change_task(9223372036854775807)$$, 'SF063 task 9223372036854775807 does not exist, or is over'),
('sf_change_task', 'due', $$SELECT sf_change_task(task, due => 'infinity') FROM sf_human_tasks$$, 'ok'),
('sf_change_task', 'due', $$SELECT sf_change_task(task, due => '-infinity') FROM sf_human_tasks$$, 'SF012 argument due must be a time, or infinity'),
('sf_change_task', 'due', $$SELECT sf_change_task(task, due => '4713-01-01 BC') FROM sf_human_tasks$$, 'ok'),
('sf_change_task', 'due', $$SELECT sf_change_task(task, due => '294276-12-31 23:59:59Z') FROM sf_human_tasks$$, 'ok'),
('sf_change_task', 'priority', $$SELECT sf_change_task(task, priority => -32768) FROM sf_human_tasks$$, 'ok'),
('sf_change_task', 'priority', $$SELECT sf_change_task(task, priority => 32767) FROM sf_human_tasks$$, 'ok'),
('sf_change_task', 'priority', $$SELECT sf_change_task(task, priority => -2147483648) FROM sf_human_tasks$$, 'SF012 argument priority must be from -32768 to 32767'),
('sf_change_task', 'priority', $$SELECT sf_change_task(task, priority => 32768) FROM sf_human_tasks$$, 'SF012 argument priority must be from -32768 to 32767'),
('sf_acknowledge_all', 'until', $$SELECT sf_acknowledge_all('m', 'infinity')$$, 'ok'),
('sf_acknowledge_all', 'until', $$SELECT sf_acknowledge_all('m', '-infinity')$$, 'ok'),
('sf_acknowledge_all', 'until', $$SELECT sf_acknowledge_all('m', NULL)$$, 'ok'),
-- lists
('sf_list_audit', 'done_after', $$SELECT sf_list_audit(done_after => '-infinity')$$, 'ok'),
('sf_list_audit', 'done_after', $$SELECT sf_list_audit(done_after => 'infinity')$$, 'ok'),
('sf_list_audit', 'done_before', $$SELECT sf_list_audit(done_before => '-infinity')$$, 'ok'),
('sf_list_audit', 'done_before', $$SELECT sf_list_audit(done_before => 'infinity')$$, 'ok'),
('sf_list_audit', 'page_size', $$SELECT sf_list_audit(page_size => 0)$$, 'SF012 argument page_size must be at least 1'),
('sf_list_audit', 'page_size', $$SELECT sf_list_audit(page_size => 1001)$$, 'SF012 argument page_size must be at most 1000'),
('sf_list_audit', 'page_size', $$SELECT sf_list_audit(page_size => NULL)$$, 'ok'),
('sf_list_executions', 'requested_after', $$SELECT sf_list_executions(requested_after => '-infinity')$$, 'ok'),
('sf_list_executions', 'requested_after', $$SELECT sf_list_executions(requested_after => 'infinity')$$, 'ok'),
('sf_list_executions', 'requested_before', $$SELECT sf_list_executions(requested_before => '-infinity')$$, 'ok'),
('sf_list_executions', 'requested_before', $$SELECT sf_list_executions(requested_before => 'infinity')$$, 'ok'),
('sf_list_human_tasks', 'page_size', $$SELECT sf_list_human_tasks(page_size => 0)$$, 'SF012 argument page_size must be at least 1'),
('sf_list_human_tasks', 'page_size', $$SELECT sf_list_human_tasks(page_size => 1001)$$, 'SF012 argument page_size must be at most 1000'),
('sf_list_human_tasks', 'page_size', $$SELECT sf_list_human_tasks(page_size => NULL)$$, 'ok'),
('sf_list_executions', 'page_size', $$SELECT sf_list_executions(page_size => 0)$$, 'SF012 argument page_size must be at least 1'),
('sf_list_executions', 'page_size', $$SELECT sf_list_executions(page_size => 1001)$$, 'SF012 argument page_size must be at most 1000'),
('sf_list_executions', 'page_size', $$SELECT sf_list_executions(page_size => NULL)$$, 'ok'),
-- deadlines
('sf_set_deadline', 'start_by', $$SELECT sf_set_deadline('m', '02:00:00.000001')$$, 'SF012 argument start_by must be a time to the minute'),
('sf_set_deadline', 'start_by', $$SELECT sf_set_deadline('m', '24:00')$$, 'ok'),
('sf_set_deadline', 'start_by', $$SELECT sf_set_deadline('m', NULL, NULL)$$, 'SF012 one of the arguments start_by and end_by must be given'),
('sf_set_deadline', 'end_by', $$SELECT sf_set_deadline('m', end_by => '23:59:59.999999')$$, 'SF012 argument end_by must be a time to the minute'),
('sf_set_deadline', 'end_by', $$SELECT sf_set_deadline('m', end_by => '00:00')$$, 'ok'),
-- nights
('sf_night', 'since', $$SELECT sf_night('-infinity')$$, 'SF012 arguments since and until must be times, and since must not be after until'),
('sf_night', 'since', $$SELECT sf_night('infinity', 'infinity')$$, 'SF012 arguments since and until must be times, and since must not be after until'),
('sf_night', 'since', $$SELECT sf_night('4713-01-01 BC')$$, 'ok'),
('sf_night', 'since', $$SELECT sf_night(NULL, NULL)$$, 'ok'),
('sf_night', 'until', $$SELECT sf_night(until => 'infinity')$$, 'SF012 arguments since and until must be times, and since must not be after until'),
('sf_night', 'until', $$SELECT sf_night(until => '294276-12-31 23:59:59Z')$$, 'ok'),
('sf_night', 'until', $$SELECT sf_night('294276-12-31 00:00Z', '294276-12-31 23:59:59Z')$$, 'ok'),
('sf_night', 'most', $$SELECT sf_night(most => -1)$$, 'SF012 argument most must not be negative'),
('sf_night', 'most', $$SELECT sf_night(most => 2147483647)$$, 'ok'),
('sf_night', 'most', $$SELECT sf_night(most => NULL)$$, 'ok'),
-- runs beside each other
('sf_compare', 'a', $$SELECT sf_compare(NULL, 'm:1')$$, '22004 argument a must not be null'),
('sf_grid', 'runs', $$SELECT sf_grid('m', 0)$$, 'SF012 argument runs must be at least 1'),
('sf_grid', 'runs', $$SELECT sf_grid('m', -2147483648)$$, 'SF012 argument runs must be at least 1'),
('sf_grid', 'runs', $$SELECT sf_grid('m', 1001)$$, 'SF012 argument runs must be at most 1000'),
('sf_grid', 'runs', $$SELECT sf_grid('m', 1000)$$, 'ok'),
('sf_grid', 'runs', $$SELECT sf_grid('m', NULL)$$, 'ok'),
-- counts
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', 0)$$, 'SF012 argument max_executions must be at least 1'),
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', -2147483648)$$, 'SF012 argument max_executions must be at least 1'),
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', 100001)$$, 'SF012 argument max_executions must be at most 100000'),
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', 2147483647)$$, 'SF012 argument max_executions must be at most 100000'),
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', 100000)$$, 'ok'),
('sf_take_archive_batch', 'max_executions', $$SELECT sf_take_archive_batch('a3', 'w', NULL)$$, 'ok'),
('sf_read_archive_batch', 'batch', $$SELECT sf_read_archive_batch(0)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'batch', $$SELECT sf_read_archive_batch(-9223372036854775808)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'batch', $$SELECT sf_read_archive_batch(9223372036854775807)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'batch', $$SELECT sf_read_archive_batch(NULL)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'after', $$SELECT sf_read_archive_batch(1, -9223372036854775808)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'after', $$SELECT sf_read_archive_batch(1, 9223372036854775807)$$, '42704 there is no batch %'),
('sf_read_archive_batch', 'max_executions', $$SELECT sf_read_archive_batch(1, 0, 0)$$, 'SF012 argument max_executions must be at least 1'),
('sf_read_archive_batch', 'max_executions', $$SELECT sf_read_archive_batch(1, 0, -2147483648)$$, 'SF012 argument max_executions must be at least 1'),
('sf_confirm_archive_batch', 'batch', $$SELECT sf_confirm_archive_batch(0, 'f', 1, 's')$$, '42704 there is no batch %'),
('sf_confirm_archive_batch', 'batch', $$SELECT sf_confirm_archive_batch(-9223372036854775808, 'f', 1, 's')$$, '42704 there is no batch %'),
('sf_confirm_archive_batch', 'batch', $$SELECT sf_confirm_archive_batch(9223372036854775807, 'f', 1, 's')$$, '42704 there is no batch %'),
('sf_confirm_archive_batch', 'batch', $$SELECT sf_confirm_archive_batch(NULL, 'f', 1, 's')$$, '42704 there is no batch %'),
('sf_confirm_archive_batch', 'bytes', $$SELECT sf_confirm_archive_batch(1, 'f', -1, 's')$$, 'SF012 argument bytes must not be negative or null'),
('sf_confirm_archive_batch', 'bytes', $$SELECT sf_confirm_archive_batch(1, 'f', -9223372036854775808, 's')$$, 'SF012 argument bytes must not be negative or null'),
('sf_confirm_archive_batch', 'bytes', $$SELECT sf_confirm_archive_batch(1, 'f', NULL, 's')$$, 'SF012 argument bytes must not be negative or null'),
('sf_confirm_archive_batch', 'bytes', $$SELECT sf_confirm_archive_batch(1, 'f', 9223372036854775807, 's')$$, '42704 there is no batch %'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', 0)$$, 'SF012 argument max_tasks must be at least 1'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', -2147483648)$$, 'SF012 argument max_tasks must be at least 1'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', 1001)$$, 'SF012 argument max_tasks must be at most 1000'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', 2147483647)$$, 'SF012 argument max_tasks must be at most 1000'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', 1000)$$, 'ok'),
('sf_get_activity_task', 'max_tasks', $$SELECT sf_get_activity_task('a3', 'w', NULL)$$, 'ok'),
('sf_run', 'max_steps', $$SELECT sf_run('m:1', max_steps => -1)$$, 'SF012 argument max_steps must not be negative'),
('sf_run', 'max_steps', $$SELECT sf_run('m:1', max_steps => -2147483648)$$, 'SF012 argument max_steps must not be negative'),
('sf_run', 'max_steps', $$SELECT sf_run('m:1', max_steps => 0)$$, 'ok'),
('sf_run', 'max_steps', $$SELECT sf_run('m:1', max_steps => 2147483647)$$, 'ok'),
('sf_run', 'max_steps', $$SELECT sf_run('m:1', max_steps => NULL)$$, 'ok'),
('sf_start', 'priority', $$SELECT sf_start('m', priority => -1001)$$, 'SF012 %'),
('sf_start', 'priority', $$SELECT sf_start('m', priority => 1001)$$, 'SF012 %'),
('sf_start', 'priority', $$SELECT sf_start('m', name => 'first', priority => 1000)$$, 'ok'),
('sf_start', 'priority', $$SELECT sf_start('m', name => 'last', priority => -1000)$$, 'ok'),
('sf_start', 'priority', $$SELECT sf_start('m', name => 'asset', priority => NULL)$$, 'ok'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', '{}'::jsonb[], priority => -1001)$$, 'SF012 argument priority must be from -1000 to 1000'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', '{"{}"}'::jsonb[], priority => 1001)$$, 'SF012 argument priority must be from -1000 to 1000'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', '{"{}"}'::jsonb[], priority => 1000)$$, 'ok'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', '{"{}"}'::jsonb[], priority => NULL)$$, 'ok'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', 'SELECT jsonb_build_object()', priority => -2147483648)$$, 'SF012 argument priority must be from -1000 to 1000'),
('sf_start_many', 'priority', $$SELECT sf_start_many('m', 'SELECT jsonb_build_object()', priority => -1000)$$, 'ok'),
('sf_start', 'version', $$SELECT sf_start('m', version => -1)$$, 'SF012 argument version must be 1 or more, not -1'),
('sf_start', 'version', $$SELECT sf_start('m', version => 2147483647)$$, 'SF003 %'),
('sf_start', 'version', $$SELECT sf_start('m', name => '1', version => NULL)$$, 'ok'),
('sf_redrive', 'version', $$SELECT sf_redrive('m:1', version => 0)$$, 'SF012 argument version must be 1 or more, not 0'),
('sf_redrive', 'version', $$SELECT sf_redrive('m:1', version => 2147483647)$$, 'SF008 %'),
('sf_migrate', 'version', $$SELECT sf_migrate('m:1', NULL)$$, '22004 argument version must not be null'),
('sf_migrate', 'version', $$SELECT sf_migrate('m:1', -2147483648)$$, 'SF012 argument version must be 1 or more, not -2147483648'),
('sf_migrate', 'version', $$SELECT sf_migrate('m:1', 2147483647)$$, 'SF0%'),
('sf_diff_versions', 'a', $$SELECT sf_diff_versions('m', NULL, 1)$$, '22004 argument a must not be null'),
('sf_diff_versions', 'a', $$SELECT sf_diff_versions('m', 0, 1)$$, 'SF012 argument version must be 1 or more, not 0'),
('sf_diff_versions', 'b', $$SELECT sf_diff_versions('m', 1, NULL)$$, '22004 argument b must not be null'),
('sf_diff_versions', 'b', $$SELECT sf_diff_versions('m', 1, 2147483647)$$, 'SF003 %'),
('sf_run_due', 'max_steps', $$CALL sf_run_due(-1)$$, 'SF012 argument max_steps must not be negative'),
('sf_run_due', 'max_steps', $$CALL sf_run_due(-2147483648)$$, 'SF012 argument max_steps must not be negative'),
('sf_run_due', 'max_steps', $$CALL sf_run_due(0)$$, 'ok'),
('sf_redrive_many', 'max', $$SELECT * FROM sf_redrive_many('m', max => -1)$$, 'SF012 argument max must not be negative'),
('sf_redrive_many', 'max', $$SELECT * FROM sf_redrive_many('m', max => 0)$$, 'ok'),
('sf_redrive_many', 'max', $$SELECT * FROM sf_redrive_many('m', status => 'TIMED_OUT', max => 2147483647)$$, 'ok'),
('sf_redrive_many', 'since', $$SELECT * FROM sf_redrive_many('m', status => 'TIMED_OUT', since => 'infinity')$$, 'ok'),
('sf_redrive_many', 'since', $$SELECT * FROM sf_redrive_many('m', status => 'TIMED_OUT', since => '-infinity')$$, 'ok'),
('sf_stop_many', 'max', $$SELECT * FROM sf_stop_many('m', max => -1)$$, 'SF012 argument max must not be negative'),
('sf_stop_many', 'max', $$SELECT * FROM sf_stop_many('m', max => 0)$$, 'ok'),
('sf_stop_many', 'max', $$SELECT * FROM sf_stop_many('m', since => 'infinity', max => 2147483647)$$, 'ok'),
('sf_stop_many', 'since', $$SELECT * FROM sf_stop_many('m', max => 0, since => 'infinity')$$, 'ok'),
('sf_stop_many', 'since', $$SELECT * FROM sf_stop_many('m', max => 0, since => '-infinity')$$, 'ok'),
-- options
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => NULL)$$, '22004 argument options must not be null'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '[]')$$, 'SF012 argument options must be a JSON object'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '{"history": null}')$$, 'SF012 option history must be %'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '{"history": -1}')$$, 'SF012 option history must be %'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '{"history": ["ALL"]}')$$, 'SF012 option history must be %'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '{"history": "all"}')$$, 'SF012 option history must be %'),
('sf_create_state_machine', 'options', $$SELECT sf_create_state_machine('o', (SELECT d FROM pass), options => '{"History": "ALL"}')$$, 'SF012 unknown option "History"'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": -1}}')$$, 'SF012 Value ''-1'' at ''stateConfiguration.retrierRetryCount'' failed to satisfy constraint: %'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": 1e300}}')$$, 'SF012 retrierRetryCount must be a count'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": 0.5}}')$$, 'SF012 retrierRetryCount must be a count'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": null}}')$$, 'SF012 retrierRetryCount must be a count'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": "1"}}')$$, 'SF012 retrierRetryCount must be a count'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"mapIterationFailureCount": -1}}')$$, 'SF012 Value ''-1'' at ''stateConfiguration.mapIterationFailureCount'' failed to satisfy constraint: %'),
('sf_test_state', 'mock', $$SELECT pg_temp.test_with('{"result": {}, "stateConfiguration": {"retrierRetryCount": 2147483647}}')$$, 'ok'),
-- schedules: each is checked before pg_cron is asked
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '0 seconds', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '-1 seconds', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '60 seconds', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '99999999999999999999 seconds', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '60 * * * *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '*/0 * * * *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '*/-1 * * * *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '5-1 * * * *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '0 0 30 2 *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'schedule', $$SELECT sf_schedule('s', '4294967296 * * * *', 'm')$$, 'SF025 invalid schedule: %'),
('sf_schedule', 'starts', $$SELECT sf_schedule('s', '* * * * *', 'm', starts => '2030-01-02', ends => '2030-01-01')$$, 'SF012 argument ends must not be before starts'),
('sf_schedule', 'ends', $$SELECT sf_schedule('s', '* * * * *', 'm', ends => '-infinity')$$, 'SF012 argument ends must not be before starts'),
('sf_schedule', 'starts', $$SELECT sf_schedule('s', '* * * * *', 'm', starts => 'infinity')$$, 'SF012 argument ends must not be before starts'),
('sf_schedule_preview', 'from_time', $$SELECT sf_schedule_preview('s', '-infinity', now())$$, 'SF012 argument from_time must be a time'),
('sf_schedule_preview', 'from_time', $$SELECT sf_schedule_preview('s', '4713-01-01 BC', now())$$, 'SF012 from_time and to_time must not be more than 10 years apart'),
('sf_schedule_preview', 'to_time', $$SELECT sf_schedule_preview('s', now(), 'infinity')$$, 'SF012 argument to_time must be a time'),
('sf_schedule_preview', 'to_time', $$SELECT sf_schedule_preview('s', now(), NULL)$$, 'SF012 argument to_time must be a time'),
('sf_schedule_preview', 'to_time', $$SELECT sf_schedule_preview('s', '294276-12-31 00:00Z', '294276-12-31 23:59:59Z')$$, 'ok'),
('sf_backfill', 'from_time', $$SELECT sf_backfill('s', NULL, now())$$, 'SF012 argument from_time must be a time'),
('sf_backfill', 'to_time', $$SELECT sf_backfill('s', now(), 'infinity')$$, 'SF012 argument to_time must be a time'),
('sf_backfill', 'max_running', $$SELECT sf_backfill('s', now(), now(), 0)$$, 'SF012 argument max_running must be at least 1'),
('sf_backfill', 'max_running', $$SELECT sf_backfill('s', now(), now(), -2147483648)$$, 'SF012 argument max_running must be at least 1'),
('sf_backfill', 'max_running', $$SELECT sf_backfill('s', now(), now(), 2147483647)$$, 'ok'),
('schedule_next', 'after', $$SELECT 1 / (_sfflow.schedule_next('* * * * *', NULL, 'infinity') IS NULL)::integer$$, 'ok'),
('schedule_next', 'after', $$SELECT 1 / (_sfflow.schedule_next('* * * * *', NULL, '-infinity') IS NULL)::integer$$, 'ok'),
('schedule_latest', 'at', $$SELECT 1 / (_sfflow.schedule_latest('* * * * *', NULL, 'infinity') IS NULL)::integer$$, 'ok'),
('schedule_latest', 'at', $$SELECT 1 / (_sfflow.schedule_latest('* * * * *', NULL, '-infinity') IS NULL)::integer$$, 'ok');

-- as long as 365.25 days a year, and yet negative where the year has 365
INSERT INTO cases SELECT 'sf_purge', 'older_than', format('SELECT sf_purge(%L)', i),
	CASE WHEN now() - i > now() THEN 'SF012 argument older_than must not reach into the future' ELSE 'ok' END
FROM (VALUES (interval '1 year -365 days -06:00'), (interval '1 mon -30 days')) v (i);

-- infinite intervals are of PostgreSQL 17
INSERT INTO cases
SELECT function, argument, replace(call, '?', sign || 'infinity'),
	CASE WHEN current_setting('server_version_num')::integer < 170000 THEN '22007 %'
		WHEN sign = '-' THEN format('SF012 argument %s must not be negative', argument)
		ELSE format('SF012 argument %s must be at most 1000 years', argument) END
FROM (VALUES ('sf_purge', 'older_than', $$SELECT sf_purge('?')$$),
	('sf_await', 'timeout', $$SELECT sf_await('m:1', '?')$$),
	('sf_create_event', 'ttl', $$SELECT sf_create_event('v4', '?')$$),
	('sf_create_event', 'remember_ids', $$SELECT sf_create_event('v4', remember_ids => '?')$$),
	('sf_emit', 'ttl', $$SELECT sf_emit('v0', 'k', ttl => '?')$$),
	('sf_create_activity', 'lease', $$SELECT sf_create_activity('a1', '?')$$)) f (function, argument, call),
	(VALUES ('-'), ('')) s (sign);

-- fields of a definition that are durations or counts: literal, and out of the input where it has a path
CREATE TEMP TABLE fields (field text, state text);
INSERT INTO fields SELECT field || suffix, state
FROM (VALUES
	('TimeoutSeconds', '"Type": "Task", "Resource": "activity:a3", {}'),
	('HeartbeatSeconds', '"Type": "Task", "Resource": "activity:a3", {}'),
	('Seconds', '"Type": "Wait", {}'),
	('MaxConcurrency', '"Type": "Map", "ItemsPath": "$.items", {}, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	('ToleratedFailureCount', '"Type": "Map", "ItemsPath": "$.items", {}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	('ToleratedFailurePercentage', '"Type": "Map", "ItemsPath": "$.items", {}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	('MaxItemsPerBatch', '"Type": "Map", "ItemsPath": "$.items", "ItemBatcher": {{}}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	('MaxInputBytesPerBatch', '"Type": "Map", "ItemsPath": "$.items", "ItemBatcher": {{}}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
	) f (field, state), (VALUES (''), ('Path')) s (suffix)
UNION ALL SELECT field, '"Type": "Task", "Resource": "activity:a3", "Retry": [{"ErrorEquals": ["States.ALL"], {}}]'
FROM unnest(ARRAY['IntervalSeconds', 'MaxAttempts', 'BackoffRate', 'MaxDelaySeconds']) field
UNION ALL SELECT 'MaxItems', '"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON", {}}, "Parameters": {"Bucket": "b", "Key": "k"}}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'
UNION ALL SELECT 'TimeoutSeconds', '{"StartAt": "S", {}, "States": {"S": {"Type": "Pass", "End": true}}}';
CREATE FUNCTION pg_temp.definition(field text, state text, value text) RETURNS json LANGUAGE sql AS $$
	SELECT format(CASE WHEN state LIKE '{%' THEN '%s' ELSE '{"StartAt": "S", "States": {"S": {%s, "End": true}}}' END,
		replace(state, '{}', format('"%s": %s', field, value)))::json $$;

CREATE FUNCTION pg_temp.test_with(mock jsonb) RETURNS jsonb LANGUAGE sql AS
	$$ SELECT sf_test_state('{"Type": "Task", "Resource": "activity:a3", "End": true}', mock => mock) $$;
CREATE TEMP TABLE pass AS SELECT '{"StartAt": "S", "States": {"S": {"Type": "Pass", "End": true}}}'::json AS d;
SELECT sf_create_state_machine('m', d) FROM pass;
-- Questions to all nodes are checked where they are asked first, in this database.
SELECT sf_add_node(1, 'here');
SELECT sf_start('m', '{}', '1'), sf_run('m:1');
SELECT sf_create_worklist('w'), sf_create_state_machine('asks', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:w", "Parameters": {}, "End": true}}}');
SELECT sf_start('asks', '{}', '1'), sf_run('asks:1');

-- What a statement raises, undone.
CREATE FUNCTION pg_temp.outcome(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- How an execution with a field out of its input ends.
CREATE FUNCTION pg_temp.run_with(field text, state text, value text) RETURNS text LANGUAGE sql AS $$
	SELECT sf_create_state_machine('path', pg_temp.definition(field, state, '"$.n"'), or_replace => true);
	SELECT sf_run(sf_start('path', format('{"n": %s, "items": [1]}', value)::jsonb)) $$;

INSERT INTO _sfflow.schedule (name, owner, schedule, state_machine, input, timezone, changed_at, created_at)
	VALUES ('s', current_user::regrole, '* * * * *', 'm', '{}', 'UTC', now(), now());
SELECT plan((SELECT count(*)::integer FROM cases) + 4);
SELECT alike(pg_temp.outcome(call), expected, call) FROM cases;

SELECT is_empty($$ SELECT field, outcome
	FROM fields, pg_temp.outcome(format('SELECT sf_create_state_machine(%L, %L, or_replace => true)', 'literal', pg_temp.definition(field, state, '1'))) outcome
	WHERE field NOT LIKE '%Path' AND outcome <> 'ok' $$, 'a definition with 1 in such a field is not');
SELECT is_empty($$ SELECT field, value, outcome
	FROM fields, (VALUES ('-1'), ('1e300'), ('null'), ('[]'), ('"-Infinity"'), ('"NaN"')) v (value),
		pg_temp.outcome(format('SELECT sf_create_state_machine(%L, %L)', 'literal', pg_temp.definition(field, state, value))) outcome
	WHERE field NOT LIKE '%Path' AND outcome NOT LIKE 'SF001 %' $$,
	'a definition with such a value is refused');
SELECT is_empty($$ SELECT field, value, outcome
	FROM fields, (VALUES ('-1'), ('1e300'), ('null'), ('[]'), ('"-Infinity"'), ('"NaN"')) v (value),
		pg_temp.run_with(field, state, value) outcome
	WHERE field LIKE '%Path' AND outcome <> 'FAILED' $$,
	'an input with such a value makes the execution fail');

-- A new argument of these types has to be listed above.
SELECT is_empty($$
	SELECT p.proname, a.name
	FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'sfflow'),
	unnest(p.proargtypes::oid[], p.proargnames[1:p.pronargs]) a (type, name)
	WHERE p.proname LIKE 'sf\_%' AND a.type::regtype IN ('smallint', 'integer', 'bigint', 'real', 'float', 'numeric', 'interval', 'timestamptz', 'timestamp')
		AND NOT EXISTS (SELECT FROM cases c WHERE c.function = p.proname AND c.argument = a.name) $$,
	'every such argument is among the cases');

SELECT * FROM finish();
ROLLBACK;
