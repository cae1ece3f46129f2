import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type SandboxClientOptions, Template } from "../../src/index.js";
import { carriers, rejection, testClient } from "../support/clients.js";
import { frameServer } from "../support/frame-server.js";
import { good, recording, recordingLogger, refused } from "../support/recorders.js";
import { inTurn, json, scriptedServer } from "../support/scripted-server.js";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe.each(carriers)("a trace over %s", (_, carrier) => {
  const sent = async (context: object | undefined): Promise<Record<string, unknown>> => {
    const server = await scriptedServer(good);
    const traceContext = (() => context) as NonNullable<SandboxClientOptions["traceContext"]>;
    await testClient(server.url, { ...carrier, traceContext }).sandboxes.get("abc");
    const { traceparent, tracestate } = server.requests[0]?.headers ?? {};
    return { traceparent, tracestate };
  };

  test.each<[string, object | undefined, object]>([
    ["as it is", { traceparent, tracestate: "a=1,b@c=2" }, { traceparent, tracestate: "a=1,b@c=2" }],
    ["without a state", { traceparent }, { traceparent }],
    ["not at all where there is none", undefined, {}],
    ["not at all where it is none", { traceparent: "yes" }, {}],
    ["not with an id of nothing but zeros", { traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }, {}],
    ["not in capitals", { traceparent: traceparent.toUpperCase() }, {}],
    ["not in the version that is forbidden", { traceparent: traceparent.replace(/^00/, "ff") }, {}],
    ["not with another header in it", { traceparent: `${traceparent}\r\nx-api-key: 1` }, {}],
    ["not as what is no text", { traceparent: 7 }, {}],
    ["without a state that is none", { traceparent, tracestate: "a" }, { traceparent }],
    [
      "without a state that is too long",
      { traceparent, tracestate: `a=${"1".repeat(600)}` },
      { traceparent },
    ],
    [
      "without a state with another header in it",
      { traceparent, tracestate: "a=1\r\nx-api-key: 1" },
      { traceparent },
    ],
  ])("is sent to the server %s", async (_, context, expected) => {
    expect(await sent(context)).toEqual({ traceparent: undefined, tracestate: undefined, ...expected });
  });

  test("is read before each try", async () => {
    const server = await scriptedServer(inTurn(refused(503), good));
    let tries = 0;
    const traceContext = () => ({ traceparent: traceparent.replace(/01$/, `0${tries++}`) });
    await testClient(server.url, { ...carrier, traceContext }).sandboxes.get("abc");
    expect(server.requests.map(({ headers }) => headers.traceparent?.slice(-2))).toEqual(["00", "01"]);
  });
});

test("a trace reaches agents, with streams too", async () => {
  const server = await frameServer((_, socket) =>
    socket.send({ type: "result", exit_code: 0 }, { type: "complete", success: true }),
  );
  const sandbox = await testClient(server.url, { traceContext: () => ({ traceparent }) }).sandboxes.get(
    "abc",
  );
  await sandbox.executeStream("1").result();
  expect(server.upgrades[0]?.headers.traceparent).toBe(traceparent);
});

test("servers of other hosts get no trace, and nobody gets their paths", async () => {
  const other = await scriptedServer((_, response) => response.writeHead(403).end());
  const server = await scriptedServer(({ path }, response) =>
    json(
      response,
      path === "/v1/templates/files/upload-link" ? 201 : 404,
      path === "/v1/templates/files/upload-link"
        ? { present: false, upload_url: `${other.url}/bucket/a-secret-path?signature=a-secret-signature` }
        : {},
    ),
  );
  const { hooks, seen } = recording();
  const { logger, lines } = recordingLogger();
  const options = { hooks, logger, logLevel: "debug", traceContext: () => ({ traceparent }) } as const;
  const template = Template.from("base").copy("package.json", "/tmp/");
  const context = fileURLToPath(new URL("../..", import.meta.url));
  await rejection(testClient(server.url, options).templates.build(template, { name: "mine", context }));
  expect(other.requests[0]?.path).toContain("/bucket/a-secret-path");
  expect(other.requests[0]?.headers["content-type"]).toBe("application/gzip");
  expect(other.requests[0]?.headers.traceparent).toBeUndefined();
  expect(server.requests[0]?.headers.traceparent).toBe(traceparent);
  expect(seen).toContainEqual(expect.objectContaining({ kind: "error", path: "/[hidden]" }));
  expect(JSON.stringify([seen, lines])).not.toContain("a-secret");
});
