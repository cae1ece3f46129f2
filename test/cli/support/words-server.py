"""A small MCP server for the recordings, without libraries."""
import json
import sys

text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
tools = {
    "word_count": ("Count the words of a text", lambda a: str(len(a["text"].split()))),
    "reverse": ("Write a text backwards", lambda a: a["text"][::-1]),
    "shout": ("Write a text in capitals", lambda a: a["text"].upper()),
}


def answer(method, params):
    if method == "initialize":
        info = {"name": "words", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        listed = [{"name": n, "description": d, "inputSchema": text} for n, (d, _) in tools.items()]
        return {"tools": listed}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": tools[params["name"]][1](params["arguments"])}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
