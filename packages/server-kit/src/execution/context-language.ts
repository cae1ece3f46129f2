/// <reference path="../raw-text.d.ts" />
import javascriptContextDriver from "./drivers/javascript-context-driver.cjs?raw";
import pythonContextCommand from "./drivers/python-context-command.py?raw";
import pythonContextDriver from "./drivers/python-context-driver.py?raw";
import pythonDisplays from "./drivers/python-displays.py?raw";

/**
 * A language that keeps variables between executions: the interpreter's command, and arguments with the driver that
 * takes one execution after the other.
 */
export interface ContextLanguage {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * Matches environment variables that the interpreter, the dynamic loader or the C library reads only at process
   * start. Changing one of them needs a new interpreter.
   */
  readonly readAtStart: RegExp;
  /** Transforms the code before it is sent to the driver. Default: unchanged. */
  readonly prepare?: (code: string) => Promise<string>;
}

/** The driver of Python contexts, to be run by python-context-command.py or python-program-command.py. */
export const pythonDriver = `${pythonDisplays}\n${pythonContextDriver}\nboot(displays)`;

export { javascriptContextDriver as javascriptDriver };

const readByLoader = "LD_|MALLOC_|GLIBC_|GCONV_|LOCPATH$";

/**
 * The languages that keep variables. `ipython`: whether Python uses IPython if it is installed. `prepareJavascript`: see
 * {@link ContextLanguage.prepare}.
 */
export function contextLanguages({
  ipython,
  prepareJavascript,
}: {
  readonly ipython: boolean;
  readonly prepareJavascript: (code: string) => Promise<string>;
}): readonly ContextLanguage[] {
  return [
    {
      name: "python",
      command: "python3",
      args: ["-c", pythonContextCommand, pythonDriver, ipython ? "ipython" : "no-ipython"],
      readAtStart: new RegExp(`^(PYTHON|${readByLoader})`),
    },
    {
      name: "javascript",
      command: "node",
      args: ["-e", javascriptContextDriver],
      readAtStart: new RegExp(`^(NODE_(?!ENV$)|UV_|OPENSSL_|SSL_|${readByLoader})`),
      prepare: prepareJavascript,
    },
  ];
}
