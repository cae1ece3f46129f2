import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { contractModules } from "../generator/contract-module.mjs";
import { typesModule } from "../generator/types-module.mjs";

const home = fileURLToPath(new URL("../..", import.meta.url));

let root;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "generate-"));
  cpSync(join(home, "scripts"), join(root, "scripts"), { recursive: true });
  symlinkSync(join(home, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  mkdirSync(join(root, "openapi"));
  cpSync(join(home, "packages/server-kit/package.json"), join(root, "packages/server-kit/package.json"));
});
afterEach(() => rmSync(root, { recursive: true }));

const json = (schema) => ({ content: { "application/json": { schema } } });
const run = (request, extra = {}) => ({
  openapi: "3.1.0",
  info: { title: "Test", version: "1" },
  security: [{ key: [] }],
  paths: {
    "/run/{id}": {
      post: { operationId: "run", requestBody: json(request), responses: { 200: json({}) }, ...extra },
    },
  },
  components: {
    schemas: { Limit: { type: "integer", maximum: 9, default: 5, description: "A limit in seconds." } },
  },
});

function generate(document, ...flags) {
  writeFileSync(join(root, "openapi", "agent.yaml"), stringify(document));
  const script = join(root, "scripts", "generate.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, ...flags], { encoding: "utf8" });
  return { status, stderr };
}

/** An operation of the generated table, with its validators as the build compiles them. */
async function operation(name) {
  const script = join(root, "scripts", "build-validators.mjs");
  expect(spawnSync(process.execPath, [script], { encoding: "utf8" }).stderr).toBe("");
  const file = join(root, "packages/server-kit/src/generated/agent-contract.ts");
  const { agentContract } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  return agentContract.operations.find(({ operationId }) => operationId === name);
}

test("a change of the contract counts as drift until code is generated from it", () => {
  const before = run({ type: "object", properties: { code: { type: "string" } } });
  const after = run({ type: "object", properties: { code: { type: "number" } } });
  expect(generate(before).status).toBe(0);
  const { status, stderr } = generate(after, "--check");
  expect([status, stderr]).toEqual([1, expect.stringContaining("protocol/src/generated/agent.ts")]);
  expect(generate(before, "--check").status).toBe(0);
});

test("limits are passed on to the packages and their page, which may not lag behind", () => {
  const limited = (value) => ({
    ...run({}),
    "x-limits": { contexts: { value, unit: "", description: "Contexts" } },
    "x-languages": { python: ["python3"] },
  });
  const page = join(root, "docs/guides/limits.md");
  cpSync(join(home, "docs/guides/limits.md"), page);
  expect(generate(limited(8)).status).toBe(0);
  expect(readFileSync(page, "utf8")).toContain("| Contexts | 8 |");
  const constants = readFileSync(join(root, "packages/protocol/src/generated/limits.ts"), "utf8");
  expect(constants).toContain("  contexts: 8,");
  expect(constants).toContain('python: ["python3"]');
  expect(generate(limited(9), "--check").stderr).toContain("docs/guides/limits.md");
});

test("validators stand alone, follow references, fill in defaults and report everything that is wrong", async () => {
  const request = {
    type: "object",
    required: ["code"],
    properties: { code: { type: "string", maxLength: 2 }, limit: { $ref: "#/components/schemas/Limit" } },
  };
  expect(generate(run(request)).status).toBe(0);
  const { body, ...facts } = await operation("run");
  expect(facts).toEqual({
    operationId: "run",
    method: "POST",
    path: "/run/{id}",
    authenticated: true,
    status: 200,
  });
  expect(body).toMatchObject({ required: false, units: { limit: "seconds" } });

  const value = { code: "😀😀", more: true };
  expect(body.validate(value)).toBe(true);
  expect(value).toEqual({ code: "😀😀", more: true, limit: 5 });
  expect(body.validate({ limit: 10 })).toBe(false);
  expect(body.validate.errors.map(({ keyword }) => keyword)).toEqual(["required", "maximum"]);
});

test("a body that is not JSON alone is left to the handler", async () => {
  const upload = { content: { "multipart/form-data": { schema: { type: "object" } } } };
  expect(generate(run({}, { requestBody: upload, security: [] })).status).toBe(0);
  expect(await operation("run")).not.toHaveProperty("body");
});

test.each([
  ["without an operationId", run({}, { operationId: undefined }), "POST /run/{id} has no operationId"],
  [
    "with a dangling reference",
    run({}, { parameters: [{ $ref: "#/components/parameters/None" }] }),
    "Can't resolve $ref",
  ],
  [
    "that requires an extension",
    {
      ...run({}),
      components: { schemas: { A: { required: ["b"], properties: { b: { "x-extension": true } } } } },
    },
    "A.b is marked x-extension, so it must be optional",
  ],
])("a contract %s is refused", async (_, document, message) => {
  const made = async () => [await typesModule(document), contractModules("agent", document)];
  await expect(made()).rejects.toThrow(message);
});
