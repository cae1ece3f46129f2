import { SandboxClient } from "cloud-sandbox";
import { test } from "vitest";
import { FrameSocket } from "../support/frame-socket.js";
import { cannotStartAs, type StartedBy, startLocalServer } from "../support/local-server.js";
import { separateAgent } from "../support/sandbox-agent.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

/**
 * Seconds without output, longer than the server waits before it checks the agent of a silent call and ends that check.
 */
const silence = 7;

test.concurrent.for(startedBy)(
  "silent executions are not taken for hung agents, also over a pause, when started by %s",
  {
    timeout: 180_000,
  },
  async (who, { skip, expect }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    const server = await startLocalServer({ who, args: ["--pool", "0"] });
    const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    try {
      const [silent, paused] = await Promise.all([client.sandboxes.create(), client.sandboxes.create()]);
      const run = (sandbox: typeof silent, seconds: number) =>
        sandbox.execute(`touch begun; sleep ${seconds}; echo done`, {
          language: "bash",
          timeoutSeconds: 120,
        });
      const pausedRun = run(paused, 1);
      await expect.poll(() => paused.files.exists("/workspace/begun")).toBe(true);
      await paused.pause();
      expect((await run(silent, silence)).stdout).toBe("done\n");
      await paused.resume();
      expect((await pausedRun).stdout).toBe("done\n");
      expect(server.log()).not.toContain("was restarted");
    } finally {
      await client.close();
      await server.stop();
    }
  },
);

test.concurrent.for(startedBy)(
  "a terminal whose agent was stopped ends, when started by %s",
  {
    timeout: 180_000,
  },
  async (who, { skip, expect }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    const server = await startLocalServer({ who, args: ["--pool", "0"] });
    try {
      const created = await fetch(`${server.url}/v1/sandboxes`, {
        method: "POST",
        headers: { "X-API-Key": server.apiKey },
        body: JSON.stringify({ template_name: "code-interpreter" }),
      });
      const { id, public_host, auth_token } = (await created.json()) as Record<string, string>;
      using terminal = await FrameSocket.open(`${public_host}/terminal`, String(auth_token));
      const agent = separateAgent(String(id));
      // Code in the sandbox cannot stop an agent that has a uid of its own, so stop it from the host.
      if (agent !== undefined) process.kill(agent, "SIGSTOP");
      else
        await fetch(`${public_host}/execute`, {
          method: "POST",
          headers: { Authorization: `Bearer ${auth_token}` },
          body: JSON.stringify({
            language: "bash",
            code: 'setsid sh -c "sleep 0.2; kill -STOP $PPID" >/dev/null 2>&1 &',
          }),
        });
      await expect.poll(() => terminal.closed).toBeDefined();
      expect(server.log()).toContain("was restarted");
      const after = await fetch(`${public_host}/env`, { headers: { Authorization: `Bearer ${auth_token}` } });
      expect(after.status).toBe(200);
    } finally {
      await server.stop();
    }
  },
);
