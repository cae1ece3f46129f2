import type { IncomingMessage } from "node:http";
import { agentEnvelope, controlPlaneEnvelope } from "@cloud-sandbox/server-kit";
import { expect, test } from "vitest";
import { agentPath, agentTarget, envelopeAt } from "../../src/agents/agent-target.js";
import { tokenFor } from "../support/gateway-rig.js";

const asking = (url: string, token?: string) =>
  agentTarget({
    url,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  } as IncomingMessage);

test.each([
  ["/agent/s1/execute?a=b", "s1", "/execute?a=b"],
  ["/agent/s1/", "s1", "/"],
  ["/agent/s1", "s1", "/"],
  ["/agent/s1?a=b", "s1", "/?a=b"],
  ["/agent/", "", "/"],
  ["http://host/agent/s1/ping", "s1", "/ping"],
])("the address %s is the agent's of %s, at %s", (url, sandboxId, path) => {
  expect(asking(url)).toEqual({ sandboxId, path });
  expect(asking(url, tokenFor("another"))).toEqual({ sandboxId, path });
});

test.each([
  "/execute",
  "/files/read?path=a",
  "/v10",
  "/healthy",
  "/health-check",
  "/v1x/a",
  "/x/v1/",
  "/x/health",
])("the address %s belongs to the agent whose token is sent with the request", (url) => {
  expect(asking(url, tokenFor("s1"))).toEqual({ sandboxId: "s1", path: url });
  expect(asking(url)).toBeUndefined();
  expect(asking(url, "no-token")).toBeUndefined();
});

test.each(["/v1", "/v1/sandboxes", "/v1?a=b", "/health", "/health?a", "/health/x", "*"])(
  "the address %s is the control plane's, whatever token comes with it",
  (url) => expect(asking(url, tokenFor("s1"))).toBeUndefined(),
);

test("a path below an agent's address is passed on to that agent", () => {
  expect(asking(`${agentPath("s1")}/ping`)).toEqual({ sandboxId: "s1", path: "/ping" });
});

test.each([
  ["/agent/s1/ping", agentEnvelope],
  ["/v1/sandboxes", controlPlaneEnvelope],
  ["/x/agent/", controlPlaneEnvelope],
  ["", controlPlaneEnvelope],
])("an error at %j has the form of errors at that address", (url, envelope) =>
  expect(envelopeAt(url)).toBe(envelope),
);
