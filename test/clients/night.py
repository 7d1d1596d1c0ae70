# The nightly demo and an activity by boto3 and by the AWS CLI, as programs written for Step Functions use them.
#
#	night.py ENDPOINT FILE	until the night has failed; FILE is its definition
#
# Prints a line of TAP per check.
import json
import os
import re
import subprocess
import sys
import threading
import time

import boto3
import botocore
from botocore.config import Config

endpoint, file = sys.argv[1:3]
count = 0


def ok(good, what, seen=None):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good:
        print(f"# got {seen!r}")
    sys.stdout.flush()


def same(got, expected, what):
    ok(got == expected, what, got)


def fails(call, error, what):
    try:
        same(call(), error, what)
    except botocore.exceptions.ClientError as e:
        same(e.response["Error"]["Code"], error, what)


def aws(*arguments, **environment):
    done = subprocess.run(["aws", "--endpoint-url", endpoint, "--output", "json", "stepfunctions", *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else done.stderr.strip()


sfn = boto3.client("stepfunctions", endpoint_url=endpoint, config=Config(retries={"max_attempts": 1}))
with open(file) as f:
    definition = f.read()
role = "arn:aws:iam::123456789012:role/nightly"

# The machine.
machine = sfn.create_state_machine(name="nightly", definition=definition, roleArn=role, tags=[{"key": "team", "value": "shop"}])
arn = machine["stateMachineArn"]
ok(arn.endswith(":stateMachine:nightly"), "create_state_machine", arn)
same(sfn.create_state_machine(name="nightly", definition=definition, roleArn=role, tags=[{"key": "team", "value": "shop"}])["stateMachineArn"], arn, "is idempotent")
described = sfn.describe_state_machine(stateMachineArn=arn)
same(json.loads(described["definition"]), json.loads(definition), "describe_state_machine")
same((described["roleArn"], described["status"], described["type"]), (role, "ACTIVE", "STANDARD"), "with what was given")
same(sfn.list_tags_for_resource(resourceArn=arn)["tags"], [{"key": "team", "value": "shop"}], "list_tags_for_resource")
same([m["name"] for m in sfn.list_state_machines()["stateMachines"]], ["nightly"], "list_state_machines")
same([m["name"] for m in aws("list-state-machines")["stateMachines"]], ["nightly"], "aws list-state-machines")

# The night, which fails.
started = sfn.start_execution(stateMachineArn=arn, name="20250205", input='{"id": "20250205"}')
execution = started["executionArn"]
ok(execution.endswith(":execution:nightly:20250205"), "start_execution", execution)
same(sfn.start_execution(stateMachineArn=arn, name="20250205", input='{"id": "20250205"}')["executionArn"], execution, "is idempotent")
fails(lambda: sfn.start_execution(stateMachineArn=arn, name="20250205", input='{"id": "20250206"}'), "ExecutionAlreadyExists", "with another input it is an error")
until = time.time() + 120
while (night := sfn.describe_execution(executionArn=execution))["status"] == "RUNNING" and time.time() < until:
    time.sleep(0.2)
same(night["status"], "FAILED", "the night fails")
same(json.loads(night["input"]), {"id": "20250205"}, "describe_execution has its input")
same((night["startDate"], night.get("error")), (started["startDate"], "check_violation"), "start and error")
ok("output" not in night and night["stopDate"] >= night["startDate"], "and its end", night)
same(aws("describe-execution", "--execution-arn", execution)["status"], "FAILED", "aws describe-execution")
events = [e for page in sfn.get_paginator("get_execution_history").paginate(executionArn=execution, PaginationConfig={"PageSize": 5}) for e in page["events"]]
same([e["id"] for e in events], list(range(1, len(events) + 1)), "get_execution_history by pages")
same((events[0]["type"], events[-1]["type"]), ("ExecutionStarted", "ExecutionFailed"), "from start to end")
entered = [e["stateEnteredEventDetails"]["name"] for e in events if e["type"] == "TaskStateEntered"]
same(sorted(entered), ["JOB-001", "JOB-002", "JOB-003", "JOB-004", "JOB-005"], "the jobs that ran")
ok(any("T00O0117" in json.dumps(e, default=str) for e in events), "the history tells which record was bad")
reverse = aws("get-execution-history", "--execution-arn", execution, "--reverse-order", "--max-items", "1")
same(reverse["events"][0]["type"], "ExecutionFailed", "aws get-execution-history")
same([e["name"] for e in sfn.list_executions(stateMachineArn=arn, statusFilter="FAILED")["executions"]], ["20250205"], "list_executions")
same(sfn.list_executions(stateMachineArn=arn, statusFilter="SUCCEEDED")["executions"], [], "by their status")

# Errors have their classes.
try:
    sfn.describe_execution(executionArn=execution + "x")
    ok(False, "an execution that is not there")
except sfn.exceptions.ExecutionDoesNotExist as e:
    ok(e.response["ResponseMetadata"]["HTTPStatusCode"] == 400, "an execution that is not there", e.response)
fails(lambda: sfn.create_state_machine(name="bad", definition="{}", roleArn=role), "InvalidDefinition", "a wrong definition")
fails(lambda: sfn.describe_state_machine(stateMachineArn="nonsense"), "InvalidArn", "a wrong ARN")
fails(lambda: sfn.describe_execution(executionArn="arn:aws:states:us-east-1:123456789012:execution:none:x"), "ExecutionDoesNotExist", "an unknown machine")
wrong = boto3.client("stepfunctions", endpoint_url=endpoint, aws_secret_access_key="wrong", aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"])
fails(lambda: wrong.list_state_machines(), "InvalidSignatureException", "a wrong secret")
unknown = boto3.client("stepfunctions", endpoint_url=endpoint, aws_secret_access_key="wrong", aws_access_key_id="AKIAUNKNOWN")
fails(lambda: unknown.list_state_machines(), "UnrecognizedClientException", "an unknown key")
ok("ExecutionDoesNotExist" in aws("describe-execution", "--execution-arn", execution + "x"), "aws shows the name of an error")

# An activity and a worker that waits for its task.
activity = sfn.create_activity(name="approve")["activityArn"]
waits = sfn.create_state_machine(name="waits", roleArn=role, definition=json.dumps(
    {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": activity, "TimeoutSeconds": 60, "End": True}}}))["stateMachineArn"]
taken = []


def work():
    task = sfn.get_activity_task(activityArn=activity, workerName="python")
    taken.append((time.time(), task))
    sfn.send_task_heartbeat(taskToken=task["taskToken"])
    sfn.send_task_success(taskToken=task["taskToken"], output='{"approved": true}')


worker = threading.Thread(target=work)
worker.start()
time.sleep(1)
begun = time.time()
run = sfn.start_execution(stateMachineArn=waits, input='{"amount": 1.10}')["executionArn"]
worker.join(50)
ok(taken and taken[0][0] - begun < 5, "a worker that waits gets the task", taken)
same(json.loads(taken[0][1]["input"]) if taken else None, {"amount": 1.1}, "with its input")
until = time.time() + 30
while (end := sfn.describe_execution(executionArn=run))["status"] == "RUNNING" and time.time() < until:
    time.sleep(0.1)
same((end["status"], json.loads(end.get("output", "null"))), ("SUCCEEDED", {"approved": True}), "and its answer ends the execution")
fails(lambda: sfn.send_task_success(taskToken=taken[0][1]["taskToken"], output="{}"), "TaskTimedOut", "a second answer is refused")
run = sfn.start_execution(stateMachineArn=waits)["executionArn"]
token = sfn.get_activity_task(activityArn=activity)["taskToken"]
sfn.send_task_failure(taskToken=token, error="Declined", cause="too much")
until = time.time() + 30
while (end := sfn.describe_execution(executionArn=run))["status"] == "RUNNING" and time.time() < until:
    time.sleep(0.1)
same((end["status"], end.get("error"), end.get("cause")), ("FAILED", "Declined", "too much"), "send_task_failure")
run = sfn.start_execution(stateMachineArn=waits)["executionArn"]
sfn.stop_execution(executionArn=run, error="Stop", cause="by hand")
same(sfn.describe_execution(executionArn=run)["status"], "ABORTED", "stop_execution")
sfn.delete_activity(activityArn=activity)
sfn.delete_state_machine(stateMachineArn=waits)

# Clients put sync- in front of the host for two operations, unless they are told not to.
passes = json.dumps({"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": 7, "End": True}}})
fast = sfn.create_state_machine(name="fast", type="EXPRESS", definition=passes, roleArn=role)["stateMachineArn"]
plain = boto3.client("stepfunctions", endpoint_url=endpoint, config=Config(inject_host_prefix=False))
same(plain.start_sync_execution(stateMachineArn=fast)["output"], "7", "start_sync_execution without the prefix of the host")
state = json.dumps({"Type": "Pass", "Result": 8, "End": True})
if hasattr(plain, "test_state"):
    same(plain.test_state(definition=state, roleArn=role)["output"], "8", "test_state")
else:
    print("# boto3 is too old for test_state")
release = re.search(r"botocore/(\d+)\.(\d+)", subprocess.run(["aws", "--version"], capture_output=True, text=True).stdout)
if release and tuple(map(int, release.groups())) >= (1, 39):
    off = {"AWS_DISABLE_HOST_PREFIX_INJECTION": "true"}
    same(aws("start-sync-execution", "--state-machine-arn", fast, **off)["output"], "7", "aws start-sync-execution, as the manual says")
    same(aws("test-state", "--definition", state, "--role-arn", role, **off)["output"], "8", "aws test-state")
else:
    print("# the AWS CLI is too old for AWS_DISABLE_HOST_PREFIX_INJECTION")
sfn.delete_state_machine(stateMachineArn=fast)
fails(lambda: sfn.get_activity_task(activityArn=activity), "ActivityDoesNotExist", "an activity that was deleted")
print(f"1..{count}")
