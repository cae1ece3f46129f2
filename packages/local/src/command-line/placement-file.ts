import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import { load } from "js-yaml";
import * as z from "zod/mini";
import { defaultImage } from "../runtime/container/paths.js";
import type { SandboxPlacement } from "../runtime/runtime-options.js";

const text = z.string("must be text; write numbers, true and false in quotes");
const notKeys = "must have keys and values";
const optional = z.exactOptional(text);

const toleration = z.strictObject(
  {
    key: optional,
    operator: z.exactOptional(z.enum(["Exists", "Equal"], "must be Exists or Equal")),
    value: optional,
    effect: z.exactOptional(
      z.enum(
        ["NoSchedule", "PreferNoSchedule", "NoExecute"],
        "must be NoSchedule, PreferNoSchedule or NoExecute",
      ),
    ),
    tolerationSeconds: z.exactOptional(z.int("must be a whole number")),
  },
  notKeys,
);

const placement = {
  nodeSelector: z.exactOptional(z.record(z.string(), text, "must have labels and their values")),
  tolerations: z.exactOptional(z.array(toleration, "must be a list")),
  priorityClassName: optional,
};

const schema = z.strictObject(
  {
    ...placement,
    templates: z.exactOptional(
      z.record(z.string(), z.strictObject(placement, notKeys), "must have templates and their placements"),
    ),
  },
  notKeys,
);

/** Reads where the Pods of sandboxes are placed. `images`: those of sandboxes, whose names are names of templates. */
export async function readPlacement(
  file: string,
  images: readonly string[] = [defaultImage],
): Promise<SandboxPlacement> {
  const wrong = (reason: string): InvalidArgumentError =>
    new InvalidArgumentError(`The file ${file} of --kubernetes-placement cannot be used: ${reason}.`);
  const parsed = await readFile(file, "utf8")
    .then((content) => schema.safeParse(load(content)))
    .catch((error: unknown) => {
      throw wrong(error instanceof Error ? error.message.trimEnd() : String(error));
    });
  if (!parsed.success) throw wrong(parsed.error.issues.map(reasonOf).join("; "));
  const known = ["base", "code-interpreter", ...images];
  const unknown = Object.keys(parsed.data.templates ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrong(
      `${fieldName(["templates", unknown])} is no template of this server, whose templates are ${known.join(", ")}`,
    );
  return parsed.data;
}

function reasonOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const isUnknown = issue.code === "unrecognized_keys";
  const unknown = isUnknown ? issue.keys.map((key) => JSON.stringify(key)).join(", ") : "";
  return `${fieldName(path)} ${isUnknown ? `has the unknown key ${unknown}` : message}`;
}

/** As `templates["python:3.12-slim"].tolerations[0]`. */
function fieldName(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === "number") return `[${step}]`;
    return /^\w+$/.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(step)}]`;
  });
  return steps.join("").replace(/^\./, "") || "the file";
}
