import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { AgentRequest } from "../../src/agents/agent-connection.js";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * An answer of an agent: status and text, or a value that is sent as JSON with status 200. "nothing" leaves the request
 * unanswered.
 */
export type Said = { readonly status: number; readonly text: string } | object | "nothing";

/**
 * A server that stands in for the agents of all sandboxes, and answers as the test says. It is closed when the test
 * ends.
 */
export class ScriptedAgent {
  readonly asked: Asked[] = [];

  private constructor(
    public answer: (asked: Asked, count: number) => Said,
    private readonly port: number,
  ) {}

  static async start(answer: (asked: Asked, count: number) => Said): Promise<ScriptedAgent> {
    const server = createServer(async (incoming, response) => {
      const { method = "", url = "", headers } = incoming;
      const asked = { method, url, headers, body: await text(incoming) };
      agent.asked.push(asked);
      const said = agent.answer(asked, agent.asked.length);
      if (said === "nothing") return;
      const { status, text: body } =
        "text" in said ? (said as { status: number; text: string }) : plain(said);
      response.writeHead(status, { "content-type": "application/json", "x-agent": "1", "set-cookie": "a=b" });
      response.end(body);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const agent = new ScriptedAgent(answer, (server.address() as AddressInfo).port);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return agent;
  }

  /** Sends a request to this agent, in the form in which the control plane does. */
  async send({ method, path, headers, body, signal }: AgentRequest): Promise<IncomingMessage> {
    const call = request({
      port: this.port,
      host: "127.0.0.1",
      method,
      path,
      headers,
      ...(signal && { signal }),
    });
    call.end(body);
    const [answer] = await once(call, "response");
    return answer as IncomingMessage;
  }
}

const plain = (said: object) => ({ status: 200, text: JSON.stringify(said) });
