#!/usr/bin/env python3
"""Do one task of Step Functions' AWS integrations with boto3: sfworker -a aws:program --program aws-task.py --pass-env 'AWS_*'

The request is on standard input, the Resource in SFFLOW_RESOURCE; the answer, or {"Error", "Cause"}, goes to standard output.
"""
import json
import os
import re
import sys
import time

import boto3
from botocore.exceptions import BotoCoreError, ClientError

# Services that boto3 calls otherwise than a Resource does, and prefixes of errors that are no capitalized names.
CLIENTS = {"sfn": "stepfunctions", "elasticmapreduce": "emr", "eventbridge": "events", "cloudwatchlogs": "logs"}
PREFIXES = {"ecs": "ECS", "eks": "EKS", "sagemaker": "SageMaker", "codebuild": "CodeBuild"}

# .sync: how to ask for the job that a request and its answer name, where the job is in the answer, and its status.
JOBS = {
    "athena:startQueryExecution": ("GetQueryExecution", lambda q, a: {"QueryExecutionId": a["QueryExecutionId"]},
                                   lambda r: r, lambda j: j["QueryExecution"]["Status"]["State"]),
    "batch:submitJob": ("DescribeJobs", lambda q, a: {"Jobs": [a["JobId"]]}, lambda r: r["Jobs"][0], lambda j: j["Status"]),
    "ecs:runTask": ("DescribeTasks", lambda q, a: {"Cluster": q.get("Cluster", "default"), "Tasks": [a["Tasks"][0]["TaskArn"]]}, lambda r: r["Tasks"][0],
                    lambda j: "" if j["LastStatus"] != "STOPPED" else "FAILED" if any(c.get("ExitCode") for c in j["Containers"]) else "SUCCEEDED"),
    "glue:startJobRun": ("GetJobRun", lambda q, a: {"JobName": q["JobName"], "RunId": a["JobRunId"]}, lambda r: r["JobRun"], lambda j: j["JobRunState"]),
}
GOOD = {"SUCCEEDED"}
BAD = {"FAILED", "CANCELLED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED"}


def spell(value, shape, answer):
    """Spell the members of structures as the API does (jobName), or in an answer as Step Functions does (JobName)."""
    if shape.type_name == "structure" and isinstance(value, dict):
        members = {name.lower(): name for name in shape.members}
        known = {k: members[k.lower()] for k in value if k.lower() in members}
        unknown = {} if answer else {k: v for k, v in value.items() if k not in known}
        return unknown | {name[:1].upper() + name[1:] if answer else name: spell(value[k], shape.members[name], answer) for k, name in known.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [spell(v, shape.member, answer) for v in value]
    if shape.type_name == "blob" and not answer and not isinstance(value, str):
        return json.dumps(value)
    value = value.isoformat() if hasattr(value, "isoformat") else value
    value = value.read() if hasattr(value, "read") else value
    return value.decode() if isinstance(value, bytes) else value


def call(operation, arguments):
    """Call an operation by its name in the API."""
    model = client.meta.service_model.operation_model(operation)
    method = getattr(client, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation).lower())
    return spell(method(**spell(arguments, model.input_shape, False)), model.output_shape, True)


def fail(error, cause):
    """Report an error, and end."""
    print(json.dumps({"Error": error, "Cause": cause}))
    sys.exit(1)


resource = os.environ["SFFLOW_RESOURCE"]
service, action, pattern = re.match(r"arn:aws:states:::(?:aws-sdk:)?([^:]+):(\w+)(?:\.(\w+))?", resource).groups()
prefix = service.capitalize() if ":aws-sdk:" in resource else PREFIXES.get(service, service.capitalize())
request = json.load(sys.stdin)
client = boto3.client(CLIENTS.get(service, service))
try:
    answer = call(action[:1].upper() + action[1:], request)
    if pattern == "sync":
        ask, arguments, find, status = JOBS[f"{service}:{action}"]
        job = find(call(ask, arguments(request, answer)))
        while status(job) not in GOOD | BAD:
            time.sleep(float(os.environ.get("AWS_TASK_POLL", 15)))
            job = find(call(ask, arguments(request, answer)))
        answer = job if status(job) in GOOD else fail("States.TaskFailed", json.dumps(job))
    print(json.dumps(answer))
except ClientError as e:
    fail(f"{prefix}.{re.sub('(Exception)?$', 'Exception', e.response['Error']['Code'], count=1)}", e.response["Error"]["Message"])
except BotoCoreError as e:
    fail(f"{prefix}.SdkClientException", str(e))
