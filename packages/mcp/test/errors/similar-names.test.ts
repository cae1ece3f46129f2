import { expect, it } from "vitest";
import { similarNames } from "../../src/errors/similar-names.js";

const known = [
  "sandbox_id",
  "vm_url",
  "code",
  "timeout",
  "env",
  "template_id",
  "template_name",
  "working_dir",
];

it.each([
  ["sandboxId", ["sandbox_id"]],
  ["sandbox", ["sandbox_id"]],
  ["id", ["sandbox_id", "template_id"]],
  ["template", ["template_id", "template_name"]],
  ["timeout_ms", ["timeout"]],
  ["env_vars", ["env"]],
  ["workdir", ["working_dir"]],
  ["WORKING-DIR", ["working_dir"]],
  ["internet_access", []],
  ["x", []],
  ["_", []],
])("the unknown name %s may mean %j", (name, meant) => {
  expect(similarNames(name, known)).toEqual(meant);
});
