import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
/** The system and the versions that the template code-interpreter names among its features. */
let system: string;
let python: string;
let node: string;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const { features } = await client.templates.get("code-interpreter");
  const version = (language: string): string =>
    features.find((feature) => feature.startsWith(`${language} `))?.split(" ")[1] ?? "";
  python = version("python");
  node = version("javascript");
  system = features.find((feature) => /^(debian|ubuntu|fedora) /.test(feature)) ?? "the template's own";
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const minorOf = (version: string): string => version.split(".").slice(0, 2).join(".");
const majorOf = (version: string): string => version.split(".")[0] ?? "";

describe("an image is a template", () => {
  const same: readonly (readonly [string, () => string])[] = [
    ["by its bare name", () => "python"],
    ["in microsandbox's spelling", () => "microsandbox/python"],
    ["for Node.js", () => "microsandbox/node"],
    ["by the latest tag", () => "python:latest"],
    ["by its major version", () => `python:${majorOf(python)}-slim`],
    ["by its minor version", () => `docker.io/library/python:${minorOf(python)}-slim`],
    ["by its whole version", () => `python:${python}`],
    ["by the major version of Node.js", () => `node:${majorOf(node)}`],
  ];
  test.for(same)("%s", async ([, image]) => {
    expect(await client.templates.forImage(image())).toEqual({
      template: "code-interpreter",
      differences: [],
    });
  });

  test("by the template's own name", async () => {
    expect(await client.templates.forImage("base")).toEqual({ template: "base", differences: [] });
  });

  test("of another minor version, which is told", async () => {
    const { template, differences } = await client.templates.forImage("python:3.0.1-slim");
    expect(template).toBe("code-interpreter");
    expect(differences).toEqual([
      `python:3.0.1-slim asks for Python 3.0.1; the server has Python ${python}.`,
    ]);
  });

  test("of another operating system, which is told", async () => {
    const { differences } = await client.templates.forImage("python:alpine3.20");
    expect(differences).toEqual([
      `python:alpine3.20 asks for alpine3.20; the operating system is ${system}.`,
    ]);
  });
});

describe("an image that no template can replace is refused", () => {
  test.for([
    ["of another major version", "python:2.7", /"python:2\.7".* The server has Python 3\./],
    ["of another language", "rust:1.80", /"rust:1\.80"/],
    ["of a variant", "python:3.13-rc", /"python:3\.13-rc"/],
    ["of another registry", "ghcr.io/someone/python:3", /"ghcr\.io/],
    ["of a digest", `python@sha256:${"a".repeat(64)}`, /"python@sha256:a/],
    ["of what is no name", "python\u0000:3\n", /"python\?:3\?"/],
    ["of an endless name", "x".repeat(100_000), /"x{120}"/],
  ] as const)("%s", async ([, image, what]) => {
    const refusal = await client.templates.forImage(image).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "ValidationError", code: "IMAGE_UNAVAILABLE" });
    expect(String(refusal)).toMatch(what);
    expect(String(refusal)).toContain(`Use python:${minorOf(python)}, node:${majorOf(node)}`);
    expect(String(refusal).length).toBeLessThan(500);
  });
});
