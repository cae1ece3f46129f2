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

/** What an agent answers: a status and a text, or something else, which is sent as JSON with 200. */
export type Said = { readonly status: number; readonly text: string } | object | "nothing";

/** A server that answers as the test says, in place of the agents of all sandboxes. It is closed when the test ends. */
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

  /** As the control plane asks it. */
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
