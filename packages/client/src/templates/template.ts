import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkBoolean, checkFunction, checkText, requireText } from "../config/option-checks.js";
import { checkedVariables } from "../config/variables.js";
import { invalidArgument } from "../errors/errors.js";
import { type ReadyCheck, wireReadyCheck } from "./ready-check.js";
import {
  type CopyOptions,
  define,
  type TemplateDefinition,
  type TemplateStep,
} from "./template-definition.js";

type WireStep = ControlPlaneSchemas["TemplateStep"];

/**
 * What a template is made of, in the order of its steps. Each method gives another definition and leaves this one as it is;
 * nothing is sent until `client.templates.build(template, { name })`.
 *
 * ```ts
 * const template = Template.from("code-interpreter")
 *   .copy("app", "/workspace/app")
 *   .run("pip install -r /workspace/app/requirements.txt")
 *   .startCommand("python3 /workspace/app/server.py", { port: 8000 });
 * ```
 */
export class Template {
  readonly #definition: TemplateDefinition;

  /** Begins with another template, by its name, or with an image, such as `python:3.11-slim`. */
  static from(nameOrImage: string): Template {
    return new Template({ from: text(nameOrImage, "nameOrImage"), steps: [] });
  }

  private constructor(definition: TemplateDefinition) {
    this.#definition = definition;
    define(this, definition);
  }

  /**
   * Copies local files, or what directories hold, to a place in the sandbox. Paths are relative to the context of the build
   * and lie in it. A destination that ends with a slash, or gets several sources, is a directory.
   */
  copy(sources: string | readonly string[], destination: string, options: CopyOptions = {}): Template {
    const all = typeof sources === "string" ? [sources] : [...sources];
    if (all.length === 0) throw invalidArgument("sources must be one path or more.");
    for (const source of all) {
      if (/[,*?[\]]/.test(text(source, "sources")))
        throw invalidArgument(`"${source}" cannot be copied: names with , * ? [ or ] mean something else.`);
    }
    if (options.permissions !== undefined && !/^0?[0-7]{3}$/.test(options.permissions))
      throw invalidArgument('permissions must be an octal mode, such as "0755".');
    text(destination, "destination");
    checkText("owner", options.owner);
    checkFunction("exclude", options.exclude);
    return this.#with({ kind: "copy", sources: all, destination, options });
  }

  /** Runs a line for the shell. A build fails with the first that does. */
  run(command: string, options: { skipCache?: boolean } = {}): Template {
    checkBoolean("skipCache", options.skipCache);
    return this.#step({ type: "RUN", args: [text(command, "command")], ...omitUndefined(options) });
  }

  /** Sets environment variables, of the steps that follow and of the sandboxes. They are no place for secrets. */
  env(variables: Readonly<Record<string, string>>): Template {
    let template: Template = this;
    for (const [key, value] of Object.entries(checkedVariables(variables))) {
      template = template.#step({ type: "ENV", args: [key, value] });
    }
    return template;
  }

  /** Where the steps that follow run, and the start command. Other programs of a sandbox start in /workspace, or in their `workdir`. */
  workdir(path: string): Template {
    return this.#step({ type: "WORKDIR", args: [text(path, "path")] });
  }

  /** Who runs the steps that follow. */
  user(name: string): Template {
    return this.#step({ type: "USER", args: [text(name, "name")] });
  }

  /** What runs in every sandbox of the template, and how to tell that it is ready. The last one counts. */
  startCommand(command: string, ready?: ReadyCheck): Template {
    const start = { command: text(command, "command"), ...(ready && { ready: wireReadyCheck(ready) }) };
    return new Template({ ...this.#definition, start });
  }

  #step(step: WireStep): Template {
    return this.#with({ kind: "ready", step });
  }

  #with(step: TemplateStep): Template {
    return new Template({ ...this.#definition, steps: [...this.#definition.steps, step] });
  }
}

function text(value: string, option: string): string {
  requireText(option, value);
  return value;
}
