#!/usr/bin/env python3
"""A Helper without an SDK: it refuses every command, and leaves all else to you.

    "helper": { "use": { "command": ["python3", "plain.py"] } }
"""
import json
import sys

sessions = set()


class NoSuchMethod(Exception):
    pass


def read():
    length = None
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None if length is None else sys.stdin.buffer.read(length)


def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def decide(params):
    if params["sessionId"] not in sessions:
        raise KeyError("this session was not started")
    call, options = params["toolCall"], params["options"]
    rejects = [option["optionId"] for option in options if option["kind"] == "reject_once"]
    if call.get("kind") == "execute" and len(rejects) == 1:
        return {"outcome": {"outcome": "selected", "optionId": rejects[0]}}
    return {"outcome": {"outcome": "ask"}}


def answer(method, params):
    if method == "helper/initialize":
        return {"protocolVersion": 1, "helper": {"name": "plain", "version": "1"}, "hooks": []}
    if method == "helper/session_start":
        sessions.add(params["sessionId"])
        return {}
    if method == "session/request_permission":
        return decide(params)
    if method == "helper/session_end":
        sessions.discard(params["sessionId"])
        return {}
    if method == "helper/shutdown":
        return {}
    raise NoSuchMethod(method)


while (body := read()) is not None:
    try:
        message = json.loads(body)
    except ValueError:
        write({"id": None, "error": {"code": -32700, "message": "not JSON"}})
        continue
    if "id" not in message or "method" not in message:
        continue  # a notification: this Helper needs none of them
    try:
        write({"id": message["id"], "result": answer(message["method"], message.get("params"))})
    except NoSuchMethod:
        write({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    except Exception:  # whatever is wrong with the request: no answer is a refusal
        write({"id": message["id"], "error": {"code": -32602, "message": "the request has a wrong shape"}})
