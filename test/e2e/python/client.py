"""A core in another language: starts a run, lets a call wait, resumes with the decision, reads the run.

Usage: client.py ADDRESS STUBS. Prints what it saw as JSON.
"""

import json
import queue
import sys

import grpc

sys.path.insert(0, sys.argv[2])
from openbot.codemode.v1 import catalog_pb2, code_run_pb2, code_run_service_pb2 as pb  # noqa: E402
from openbot.codemode.v1 import code_run_service_pb2_grpc  # noqa: E402

CODE = """
const note = await apps.notes.read_note({ id: 1 });
try {
  return await apps.notes.send({ text: note.text });
} catch (error) {
  return `${error.name}: ${error.message}`;
}
"""


def catalog():
    tools = [catalog_pb2.Tool(name="read_note"), catalog_pb2.Tool(name="send")]
    connection = catalog_pb2.Connection(id="conn-7", name="Notes", tools=tools)
    return pb.CatalogRef(catalog=catalog_pb2.Catalog(connections=[connection]))


class Stream:
    """One RunCode stream: messages go out as they are put."""

    def __init__(self, service, first):
        self.out = queue.Queue()
        self.out.put(first)
        self.responses = service.RunCode(iter(self.out.get, None))

    def send(self, **outcome):
        self.out.put(pb.RunCodeRequest(outcome=pb.ReportOutcome(**outcome)))

    def close(self):
        self.out.put(None)


def start(service):
    request = pb.StartCodeRun(
        session="py", turn="t-1", call_id="call-py", owner="someone", code=CODE, reason="Send it.", catalog=catalog()
    )
    stream = Stream(service, pb.RunCodeRequest(start=request))
    seen = []
    for response in stream.responses:
        kind = response.WhichOneof("message")
        seen.append(kind)
        if kind == "call" and response.call.binding == "notes.read_note":
            value = json.dumps({"text": "hello from Python"})
            stream.send(index=response.call.index, completed=code_run_pb2.CallCompleted(value_json=value))
        elif kind == "call":
            stream.send(index=response.call.index, waiting=code_run_pb2.CallWaiting())
        elif kind == "waiting":
            stream.close()
            return seen, response.waiting
    raise SystemExit("the run does not wait")


def resume(service, waiting):
    request = waiting.requests[0]
    denied = pb.ReportOutcome(
        index=request.code.index,
        call_id=request.app.call_id,
        arguments_digest=request.app.arguments_digest,
        denied=code_run_pb2.CallDenied(message="not today"),
    )
    first = pb.RunCodeRequest(
        resume=pb.ResumeCodeRun(run_id=waiting.run_id, catalog=catalog(), outcomes=[denied])
    )
    stream = Stream(service, first)
    seen = []
    for response in stream.responses:
        kind = response.WhichOneof("message")
        seen.append(kind)
        if kind == "finished":
            stream.close()
            return seen, response.finished.run
    raise SystemExit("the run does not finish")


def refused(service):
    """The error of a wrong request, with its details as every gRPC library gives them."""
    try:
        service.ListCodeRuns(pb.ListCodeRunsRequest(session="", page_size=999))
    except grpc.RpcError as error:
        details = dict(error.trailing_metadata())
        return {"code": error.code().name, "details": "grpc-status-details-bin" in details}
    raise SystemExit("a wrong request was taken")


def main():
    with grpc.insecure_channel(sys.argv[1]) as channel:
        service = code_run_service_pb2_grpc.CodeRunServiceStub(channel)
        started, waiting = start(service)
        resumed, finished = resume(service, waiting)
        run = service.GetCodeRun(pb.GetCodeRunRequest(run_id=waiting.run_id)).run
        print(
            json.dumps(
                {
                    "started": started,
                    "target": waiting.requests[0].capability.target,
                    "arguments": json.loads(waiting.requests[0].app.arguments_json),
                    "resumed": resumed,
                    "value": json.loads(finished.result.completed.value_json),
                    "same": run == finished,
                    "attempts": len(run.attempts),
                    "refused": refused(service),
                }
            )
        )


main()
