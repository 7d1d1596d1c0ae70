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
PREFIXES = {"ecs": "ECS", "eks": "EKS", "sagemaker": "SageMaker", "codebuild": "CodeBuild", "emr-serverless": "EmrServerless",
            "elasticmapreduce": "ElasticMapReduce"}

# .sync: how to ask for the job that a request and its answer name, where the job is in the answer, and its status; then the
# statuses that are good, unless they are those of GOOD.
JOBS = {
    "athena:startQueryExecution": ("GetQueryExecution", lambda q, a: {"QueryExecutionId": a["QueryExecutionId"]},
                                   lambda r: r, lambda j: j["QueryExecution"]["Status"]["State"]),
    "batch:submitJob": ("DescribeJobs", lambda q, a: {"Jobs": [a["JobId"]]}, lambda r: r["Jobs"][0], lambda j: j["Status"]),
    "ecs:runTask": ("DescribeTasks", lambda q, a: {"Cluster": q.get("Cluster", "default"), "Tasks": [a["Tasks"][0]["TaskArn"]]}, lambda r: r["Tasks"][0],
                    lambda j: "" if j["LastStatus"] != "STOPPED" else "FAILED" if any(c.get("ExitCode") for c in j["Containers"]) else "SUCCEEDED"),
    "glue:startJobRun": ("GetJobRun", lambda q, a: {"JobName": q["JobName"], "RunId": a["JobRunId"]}, lambda r: r["JobRun"], lambda j: j["JobRunState"]),
    "bedrock:createModelCustomizationJob": ("GetModelCustomizationJob", lambda q, a: {"JobIdentifier": a["JobArn"]}, lambda r: r, lambda j: j["Status"]),
    "codebuild:startBuild": ("BatchGetBuilds", lambda q, a: {"Ids": [a["Build"]["Id"]]}, lambda r: r["Builds"][0], lambda j: j["BuildStatus"]),
    "emr-serverless:startJobRun": ("GetJobRun", lambda q, a: {"ApplicationId": q["ApplicationId"], "JobRunId": a["JobRunId"]},
                                   lambda r: r["JobRun"], lambda j: j["State"]),
}
for action, good in {"create": {"CREATED"}, "start": {"STARTED"}, "stop": {"STOPPED", "CREATED"}, "delete": {"TERMINATED"}}.items():
    JOBS[f"emr-serverless:{action}Application"] = ("GetApplication", lambda q, a: {"ApplicationId": a.get("ApplicationId") or q["ApplicationId"]},
                                                   lambda r: r["Application"], lambda j: j["State"], good)
for thing, names in {"Cluster": ["Name"], "Nodegroup": ["ClusterName", "NodegroupName"], "FargateProfile": ["ClusterName", "FargateProfileName"]}.items():
    for action in ("create", "delete"):
        JOBS[f"eks:{action}{thing}"] = (f"Describe{thing}", lambda q, a, names=names: {name: q[name] for name in names},
                                        lambda r: r, lambda j, thing=thing: j[thing]["Status"], {"ACTIVE"} if action == "create" else set())
for thing in ("TrainingJob", "TransformJob", "ProcessingJob"):
    JOBS[f"sagemaker:create{thing}"] = (f"Describe{thing}", lambda q, a, name=f"{thing}Name": {name: q[name]},
                                        lambda r: r, lambda j, status=f"{thing}Status": j[status])
for action, good in {"create": {"WAITING"}, "terminate": {"TERMINATED", "TERMINATED_WITH_ERRORS"}}.items():
    JOBS[f"elasticmapreduce:{action}Cluster"] = ("DescribeCluster", lambda q, a: {"ClusterId": a.get("ClusterId") or q["ClusterId"]},
                                                 lambda r: r, lambda j: j["Cluster"]["Status"]["State"], good)
JOBS["elasticmapreduce:addStep"] = ("DescribeStep", lambda q, a: {"ClusterId": q["ClusterId"], "StepId": a["StepId"]},
                                    lambda r: r, lambda j: j["Step"]["Status"]["State"])
GOOD = {"SUCCEEDED", "SUCCESS", "COMPLETED"}
BAD = {"FAILED", "FAULT", "CANCELLED", "STOPPED", "TIMEOUT", "TIMED_OUT", "ERROR", "EXPIRED", "TERMINATED", "CREATE_FAILED", "DELETE_FAILED",
       "TERMINATED_WITH_ERRORS", "INTERRUPTED"}

# The actions of elasticmapreduce are no operations of EMR's API: the operation, its request, and what of its answer is theirs.
EMR = {
    "createCluster": ("RunJobFlow", lambda q: q, lambda a: {"ClusterId": a["JobFlowId"]}),
    "setClusterTerminationProtection": ("SetTerminationProtection", lambda q: {"JobFlowIds": [q["ClusterId"]], "TerminationProtected": q["TerminationProtected"]},
                                        lambda a: {}),
    "terminateCluster": ("TerminateJobFlows", lambda q: {"JobFlowIds": [q["ClusterId"]]}, lambda a: {}),
    "addStep": ("AddJobFlowSteps", lambda q: {"JobFlowId": q["ClusterId"], "Steps": [q["Step"]]} | {k: q[k] for k in ("ExecutionRoleArn",) if k in q},
                lambda a: {"StepId": a["StepIds"][0]}),
    "cancelStep": ("CancelSteps", lambda q: {"ClusterId": q["ClusterId"], "StepIds": [q["StepId"]]}, lambda a: {"CancelStepsInfo": a["CancelStepsInfoList"][0]}),
    "modifyInstanceFleetByName": ("ModifyInstanceFleet", lambda q: {"ClusterId": q["ClusterId"], "InstanceFleet": q["InstanceFleet"] | named("InstanceFleet", q)},
                                  lambda a: {}),
    "modifyInstanceGroupByName": ("ModifyInstanceGroups", lambda q: {"ClusterId": q["ClusterId"], "InstanceGroups": [q["InstanceGroup"] | named("InstanceGroup", q)]},
                                  lambda a: {}),
}


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
    answer = method(**spell(arguments, model.input_shape, False))
    return spell(answer, model.output_shape, True) if model.output_shape else {}


def named(kind, request):
    """The id of a group or fleet of instances of EMR, which a request names."""
    for found in call(f"List{kind}s", {"ClusterId": request["ClusterId"]})[f"{kind}s"]:
        if found.get("Name") == request[f"{kind}Name"]:
            return {f"{kind}Id": found["Id"]}
    fail(f"{prefix}.InvalidRequestException", f"{kind} {request[f'{kind}Name']} does not exist.")


def act(request):
    """Do what the Resource says, and give its answer."""
    if service != "elasticmapreduce":
        return call(action[:1].upper() + action[1:], request)
    operation, make, take = EMR[action]
    return take(call(operation, make(request)))


def wait(request, answer):
    """Wait for the job of a request, and give its description; what is to be deleted is gone when the service knows it no more."""
    ask, arguments, find, status, *good = JOBS[f"{service}:{action}"]
    good = good[0] if good else GOOD
    job = answer
    while True:
        try:
            job = find(call(ask, arguments(request, answer)))
        except ClientError as e:
            if action.startswith("delete") and e.response["Error"]["Code"] == "ResourceNotFoundException":
                return job
            raise
        if status(job).upper() in good:
            return answer | job if service == "elasticmapreduce" else job
        if status(job).upper() in BAD:
            fail("States.TaskFailed", json.dumps(job))
        time.sleep(float(os.environ.get("AWS_TASK_POLL", 15)))


def fail(error, cause):
    """Report an error, and end."""
    print(json.dumps({"Error": error, "Cause": cause}))
    sys.exit(1)


resource = os.environ["SFFLOW_RESOURCE"]
service, action, pattern = re.match(r"arn:aws:states:::(?:aws-sdk:)?([^:]+):(\w+)(?:\.(\w+))?", resource).groups()
runtime = {"invokeModel": "bedrock-runtime"}.get(action) if service == "bedrock" else None
prefix = service.capitalize() if ":aws-sdk:" in resource else PREFIXES.get(service, service.capitalize())
request = json.load(sys.stdin)
if service == "eks" and action in ("call", "runJob"):
    import aws_kubernetes
    try:
        print(json.dumps(aws_kubernetes.call(request) if action == "call" else aws_kubernetes.run_job(request, pattern == "sync")))
    except aws_kubernetes.Refused as e:
        fail(*e.args)
    sys.exit(0)
endpoint = os.environ.get("AWS_ENDPOINT_URL")
client = boto3.client(runtime or CLIENTS.get(service, service), **({"endpoint_url": endpoint} if endpoint else {}))
try:
    answer = act(request)
    if pattern == "sync":
        answer = wait(request, answer)
    if runtime and answer.get("ContentType", "").startswith("application/json"):
        answer["Body"] = json.loads(answer["Body"])
    print(json.dumps(answer))
except ClientError as e:
    fail(f"{prefix}.{re.sub('(Exception)?$', 'Exception', e.response['Error']['Code'], count=1)}", e.response["Error"]["Message"])
except BotoCoreError as e:
    fail(f"{prefix}.SdkClientException", str(e))
