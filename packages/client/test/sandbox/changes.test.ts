import { expect, test } from "vitest";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { type Handler, json } from "../support/scripted-server.js";

interface Body {
  readonly paths: readonly { readonly path: string }[];
}

test.each([
  ["long", "x".repeat(4000), 3000],
  ["many", "x", 150_000],
])("apply sends paths that are too %s for one request in several", async (_, name, count) => {
  const sizes: number[] = [];
  const apply: Handler = (request, response) => {
    const { paths } = request.json as unknown as Body;
    sizes.push(paths.length);
    expect(request.body.length).toBeLessThan(16 * 1024 * 1024);
    json(response, 200, { object: "list", data: paths.map(({ path }) => ({ path, status: "applied" })) });
  };
  const { sandbox } = await sandboxWith({ "POST /v1/sandboxes/abc/apply": apply });
  const paths = Array.from({ length: count }, (_each, index) => `/repo/${name}${index}`);
  const applied = await sandbox.apply({ paths });
  expect(applied.map(({ path }) => path)).toEqual(paths);
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100_000);
});

test("apply binds a change to all that was reviewed", async () => {
  const bodies: unknown[] = [];
  const apply: Handler = (request, response) => {
    bodies.push(request.json);
    json(response, 200, { object: "list", data: [] });
  };
  const change = { path: "/repo/run", kind: "added", type: "file", executable: true, digest: "0".repeat(64) };
  const { sandbox } = await sandboxWith({
    "GET /v1/sandboxes/abc/changes": ok({ object: "list", data: [{ ...change, size: 1, runs: true }] }),
    "POST /v1/sandboxes/abc/apply": apply,
  });
  await sandbox.apply({ paths: await sandbox.changes() });
  expect(bodies).toEqual([{ paths: [change] }]);
});
