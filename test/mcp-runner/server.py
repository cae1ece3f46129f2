"""An MCP server without libraries, which also does what no server should: its argument says what."""
import json
import os
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def noise(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def tool(name):
    schema = {"type": "object"}
    if name == "echo":
        schema["properties"] = {"text": {"type": "string"}}
    if name == "large":
        schema |= {"properties": {"size": {"type": "integer"}}, "required": ["size"]}
    if name == "structured":
        output = {"type": "object", "properties": {"word": {"type": "string", "pattern": "^(b+)+$"}}}
        return {"name": name, "inputSchema": schema, "outputSchema": output}
    return {"name": name, "inputSchema": schema}


def called(id, name, arguments, token=None):
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "length":
        return text(str(len(arguments.get("text", ""))))
    if name == "large":
        return text("x" * arguments["size"])
    if name == "variable":
        return text(os.environ.get(arguments["name"], "unset"))
    if name == "fail":
        sys.stderr.write("the key is " + os.environ.get("SECRET_KEY", "") + "\n")
        return {**text("failed with " + os.environ.get("SECRET_KEY", "")), "isError": True}
    if name == "exit":
        sys.stderr.write("giving up, the key is " + os.environ.get("SECRET_KEY", "") + "\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang":
        time.sleep(3600)
    if name == "other-id":
        say({"id": 4711, "result": text("for nobody")})
        time.sleep(3600)
    if name == "secret-id":
        say({"id": os.environ["SECRET_KEY"], "result": text("for nobody")})
        time.sleep(3600)
    if name == "refuse":
        say({"id": id, "error": {"code": -32000, "message": os.environ["SECRET_KEY"] * 10_000}})
    if name == "escapes":
        noise("noise \x1b[31m")
        audio = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav\x1b[31m"}
        return {"content": [audio, {"type": "resource", "resource": {"uri": "x:1", "text": "\x9b31m"}}]}
    if name == "images":
        images = [{"type": "image", "data": data, "mimeType": "image/png"} for data in arguments["data"]]
        return {"content": images, "structuredContent": None}
    if name == "progress":
        say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "message": "p" * 50_000}})
        # Progress that comes in one piece with the answer may be passed on after it, and is dropped then.
        time.sleep(0.2)
        return text("done")
    if name == "multiply":
        names.extend(f"{i}-{'x' * 100}" for i in range(10_000))
        say({"method": "notifications/tools/list_changed"})
        return text("multiplied")
    if name == "rename":
        names[:] = [os.environ["SECRET_KEY"] + "_" * 100_000]
    if name == "garbage":
        noise("not json at all " + os.environ.get("SECRET_KEY", ""))
        return text("after garbage")
    if name == "flood":
        while True:
            noise("flood " * 1000)
    if name == "notifications":
        while True:
            say({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
    if name == "sampling":
        say({"id": "s", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        answer = json.loads(sys.stdin.readline())
        return {**text("no answer of a model: " + answer["error"]["message"]), "isError": True}
    if name == "wrong":
        return {"content": 5}
    if name == "number":
        return {"content": [], "structuredContent": {"pin": int(os.environ["PIN"]), "other": 7}}
    if name == "structured":
        return {"content": [], "structuredContent": {"word": "a" * 20}}
    if name == "grow":
        names.append("grown")
        say({"method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "files":
        there = os.path.isdir(arguments["path"])
        return text(json.dumps(sorted(os.listdir(arguments["path"])) if there else "no such directory"))
    return None


names = "echo length large variable fail exit hang other-id secret-id refuse rename multiply progress escapes garbage flood notifications sampling wrong structured number grow files images".split()

if mode == "mute":
    time.sleep(3600)
if mode == "dies":
    sys.stderr.write("cannot start without a licence\n")
    sys.exit(9)
if mode == "noisy":
    noise("Welcome to the server")
if mode == "noise-only":
    noise("Usage: server [options]")
    time.sleep(3600)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        if mode == "newer":
            version = "3000-01-01 " + os.environ["SECRET_KEY"]
        info = {"name": "plain", "version": "1"}
        offered = {} if mode == "no-tools" else {"tools": {"listChanged": True}}
        say({"id": id, "result": {"protocolVersion": version, "capabilities": offered, "serverInfo": info}})
    elif method == "tools/list":
        result = {"tools": [tool(name) for name in names]}
        if mode == "odd":
            result["tools"][:0] = [{"name": 5}, {**tool("titled"), "title": None, "annotations": {"readOnlyHint": None}}]
            result["nextCursor"] = None
        say({"id": id, "result": result, **({"error": None} if mode == "odd" else {})})
    elif method == "tools/call":
        token = message["params"].get("_meta", {}).get("progressToken")
        result = called(id, message["params"]["name"], message["params"].get("arguments", {}), token)
        if result is None and message["params"]["name"] != "refuse":
            say({"id": id, "error": {"code": -32602, "message": "Unknown tool"}})
        elif result is not None:
            say({"id": id, "result": result})
    elif method == "ping":
        say({"id": id, "result": {}})
