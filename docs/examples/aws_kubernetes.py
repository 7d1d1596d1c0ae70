"""eks:call and eks:runJob for aws-task.py, which speak to the Kubernetes API of a cluster, as whom the worker's credentials say."""
import base64
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request

import boto3
from botocore.model import ServiceId
from botocore.signers import RequestSigner


class Refused(Exception):
    """A status that is not of success; args: error, cause."""


def token(cluster):
    """A token of EKS: a request to STS that is signed for a minute, and names the cluster."""
    session = boto3.session.Session()
    signer = RequestSigner(ServiceId("sts"), session.region_name, "sts", "v4", session.get_credentials(), session.events)
    url = f"https://sts.{session.region_name}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15"
    signed = signer.generate_presigned_url({"method": "GET", "url": url, "body": {}, "headers": {"x-k8s-aws-id": cluster}, "context": {}},
                                           region_name=session.region_name, expires_in=60, operation_name="")
    return "k8s-aws-v1." + base64.urlsafe_b64encode(signed.encode()).decode().rstrip("=")


def ask(cluster, method, path, query=None, body=None):
    """Send a request to a cluster: its status and the text of its answer."""
    url = cluster["Endpoint"].rstrip("/") + path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Authorization": f"Bearer {token(cluster['ClusterName'])}", "Content-Type": "application/json"})
    trusted = ssl.create_default_context(cadata=base64.b64decode(cluster["CertificateAuthority"]).decode())
    try:
        with urllib.request.urlopen(request, context=trusted, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        raise Refused(f"EKS.{e.code}", e.read().decode()) from None
    except urllib.error.URLError as e:
        raise Refused("EKS.SdkClientException", str(e.reason)) from None


def value(text):
    """JSON text as a value, other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def call(request):
    """eks:call: any request."""
    status, text = ask(request, request["Method"], request["Path"], request.get("QueryParameters"), request.get("RequestBody"))
    return {"StatusCode": status, "ResponseBody": value(text)}


def logs(request, namespace, name):
    """What the containers of a job have written: JSON as values, unless RawLogs wants texts."""
    options = request["LogOptions"]
    pods = f"/api/v1/namespaces/{namespace}/pods"
    _, found = ask(request, "GET", pods, {"labelSelector": f"job-name={name}"})
    return {"pods": {pod["metadata"]["name"]: {"containers": {container["name"]: {"log": (str if options.get("RawLogs") else value)(
        ask(request, "GET", f"{pods}/{pod['metadata']['name']}/log", {**options.get("LogParameters", {}), "container": container["name"]})[1])}
        for container in pod["spec"]["containers"]}} for pod in json.loads(found)["items"]}}


def run_job(request, sync):
    """eks:runJob: make a job; with .sync wait for it, and give it with its logs."""
    namespace = request.get("Namespace", "default")
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    status, text = ask(request, "POST", path, None, request["Job"])
    job = json.loads(text)
    if not sync:
        return {"StatusCode": status, "ResponseBody": job}
    name = job["metadata"]["name"]
    while True:
        ended = {c["type"] for c in job.get("status", {}).get("conditions", []) if c["status"] == "True"} & {"Complete", "Failed"}
        if ended:
            break
        time.sleep(float(os.environ.get("AWS_TASK_POLL", 15)))
        job = json.loads(ask(request, "GET", f"{path}/{name}")[1])
    if request.get("LogOptions", {}).get("RetrieveLogs"):
        job["logs"] = logs(request, namespace, name)
    if "Failed" in ended:
        raise Refused("States.TaskFailed", json.dumps(job))
    return job
