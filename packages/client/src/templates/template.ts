import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import {
  checkBoolean,
  checkedVariables,
  checkFunction,
  checkKnown,
  checkText,
  omitUndefined,
  requireText,
} from "../config/options.js";
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
 * The definition of a template: its steps, in order. Immutable: each method returns a new definition. Nothing is sent
 * until `client.templates.build(template, { name })`.
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

  /** Starts from another template, given by name, or from an image such as `python:3.11-slim`. */
  static from(nameOrImage: string): Template {
    return new Template({ from: text(nameOrImage, "nameOrImage"), steps: [] });
  }

  private constructor(definition: TemplateDefinition) {
    this.#definition = definition;
    define(this, definition);
  }

  /**
   * Copies local files, or the contents of directories, into the template. Source paths are relative to the build's
   * context and must be inside it. The destination is a directory if it ends with a slash or there are several sources.
   */
  copy(sources: string | readonly string[], destination: string, options: CopyOptions = {}): Template {
    checkKnown("copy", options, { owner: true, permissions: true, exclude: true });
    const all = typeof sources === "string" ? [sources] : [...sources];
    if (all.length === 0) throw invalidArgument("sources must be one path or more.");
    for (const source of all) {
      if (/[,*?[\]]/.test(text(source, "sources")))
        throw invalidArgument(
          `"${source}" cannot be copied: the characters , * ? [ and ] have a special meaning in a COPY step. Rename the file.`,
        );
    }
    if (options.permissions !== undefined && !/^0?[0-7]{3}$/.test(options.permissions))
      throw invalidArgument('permissions must be an octal mode, such as "0755".');
    text(destination, "destination");
    checkText("owner", options.owner);
    checkFunction("exclude", options.exclude);
    return this.#with({ kind: "copy", sources: all, destination, options });
  }

  /** Runs a shell command. The build fails at the first command that fails. */
  run(command: string, options: { skipCache?: boolean } = {}): Template {
    checkKnown("run", options, { skipCache: true });
    checkBoolean("skipCache", options.skipCache);
    return this.#step({ type: "RUN", args: [text(command, "command")], ...omitUndefined(options) });
  }

  /**
   * Sets environment variables for the following steps and for sandboxes made from the template. Do not put secrets here.
   */
  env(variables: Readonly<Record<string, string>>): Template {
    let template: Template = this;
    for (const [key, value] of Object.entries(checkedVariables(variables))) {
      template = template.#step({ type: "ENV", args: [key, value] });
    }
    return template;
  }

  /**
   * Working directory of the following steps and of the start command. Other programs start in /workspace, or in their
   * `workdir`.
   */
  workdir(path: string): Template {
    return this.#step({ type: "WORKDIR", args: [text(path, "path")] });
  }

  /** User that runs the following steps. */
  user(name: string): Template {
    return this.#step({ type: "USER", args: [text(name, "name")] });
  }

  /**
   * Command that runs in every sandbox made from the template, and the check that finds out when it is ready. A second call
   * replaces the first.
   */
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
