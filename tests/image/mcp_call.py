"""One request of MCP over HTTP, without a client library."""
import json
import urllib.request

REVISION = "2026-07-28"


class Server:
    def __init__(self, address, token):
        self.address = address
        self.token = token

    def ask(self, method, params, name=None):
        params = dict(params)
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "image-check", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": "Bearer " + self.token,
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": method,
        }
        if name is not None:
            headers["Mcp-Name"] = name
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.address + "/mcp", body, headers)
        with urllib.request.urlopen(request, timeout=120) as reply:
            text = reply.read().decode()
        # One JSON document, or an event stream whose last event is the answer.
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        answer = json.loads(lines[-1] if lines else text)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, name=tool)
