import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeBlocks } from "../../../../test/support/documents/code-blocks.js";
import { readPlacement } from "../../src/command-line/placement-file.js";
import { placementOf } from "../../src/runtime/kubernetes/pod.js";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "placement-"));
});
afterAll(() => rm(directory, { recursive: true }));

const read = async (content: string, ...images: string[]) => {
  const file = join(directory, "placement.yaml");
  await writeFile(file, content);
  return readPlacement(file, images.length > 0 ? images : undefined);
};

test("the guide's file sets what Pods of its template have, and those of others", async () => {
  const block = codeBlocks().find(({ code }) => code.startsWith("# placement.yaml"));
  const placement = await read(block?.code ?? "", "node:22-slim", "python:3.12-slim");
  const all = {
    nodeSelector: { pool: "sandboxes" },
    tolerations: [{ key: "sandboxes", operator: "Exists", effect: "NoSchedule" }],
    priorityClassName: "sandboxes",
  };
  expect(placementOf(placement, "node:22-slim", "node:22-slim")).toEqual(all);
  const onGpus = { ...all, nodeSelector: { pool: "sandboxes", accelerator: "gpu" } };
  expect(placementOf(placement, "python:3.12-slim", "python:3.12-slim")).toEqual(onGpus);
  expect(placementOf(placement, "base", "python:3.12-slim")).toEqual(onGpus);
});

test("a file may be JSON", async () => {
  expect(await read('{"templates": {"base": {"priorityClassName": "high"}}}')).toEqual({
    templates: { base: { priorityClassName: "high" } },
  });
});

test.each([
  ["nodeselector: {}", 'the file has the unknown key "nodeselector"'],
  ["", "the file must have keys and values"],
  ["nodeSelector: { gpu: true }", "nodeSelector.gpu must be text; write numbers, true and false in quotes"],
  ["nodeSelector: [gpu]", "nodeSelector must have labels and their values"],
  ["tolerations: { key: a }", "tolerations must be a list"],
  [
    "templates: { 'python:3.12-slim': { tolerations: [{ effect: Never }] } }",
    'templates["python:3.12-slim"].tolerations[0].effect must be NoSchedule, PreferNoSchedule or NoExecute',
  ],
  ["templates: { base: { affinity: {} } }", 'templates.base has the unknown key "affinity"'],
  [
    "templates: { 'node:22': {} }",
    'templates["node:22"] is no template of this server, whose templates are base, code-interpreter, python:3.12-slim',
  ],
  ["a: [", "unexpected end of the stream"],
])("the file %j is refused with its name and the key", async (content, reason) => {
  const refused = read(content);
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.toThrow(
    `The file ${join(directory, "placement.yaml")} of --kubernetes-placement`,
  );
});

test("a file that is not there is refused with its name", async () => {
  await expect(readPlacement("/nowhere.yaml")).rejects.toThrow(/nowhere\.yaml.*no such file/);
});
