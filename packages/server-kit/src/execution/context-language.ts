/// <reference path="../raw-text.d.ts" />
import javascriptContextDriver from "./drivers/javascript-context-driver.cjs?raw";
import javascriptDisplays from "./drivers/javascript-displays.cjs?raw";
import javascriptErrors from "./drivers/javascript-errors.cjs?raw";
import javascriptModules from "./drivers/javascript-modules.cjs?raw";
import javascriptProcess from "./drivers/javascript-process.cjs?raw";
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
  /** The end of a source file's name. */
  readonly suffix: string;
  /** Whether programs start their own file anew, as Python's `multiprocessing` does. */
  readonly startsFileAnew: boolean;
  /**
   * Matches environment variables that the interpreter, the dynamic loader or the C library reads only at process
   * start. Changing one of them needs a new interpreter.
   */
  readonly readAtStart: RegExp;
  /** Makes a function for each interpreter, which transforms the code before it is sent to the driver. Default: unchanged. */
  readonly preparer?: () => (code: string) => Promise<string>;
}

/** The driver of Python contexts, to be run by python-context-command.py or python-program-command.py. */
export const pythonDriver = `${pythonDisplays}\n${pythonContextDriver}\nboot(displays)`;

/** The driver of JavaScript contexts, an argument of `node -e`. */
export const javascriptDriver = [
  javascriptModules,
  javascriptDisplays,
  javascriptErrors,
  javascriptProcess,
  javascriptContextDriver,
].join("\n");

const readByLoader = "LD_|MALLOC_|GLIBC_|GCONV_|LOCPATH$";

/** See {@link ContextLanguage.readAtStart}. */
export const readAtStart = {
  python: new RegExp(`^(PYTHON|${readByLoader})`),
  javascript: new RegExp(`^(NODE_(?!ENV$)|UV_|OPENSSL_|SSL_|${readByLoader})`),
};

/**
 * The languages that keep variables. `ipython`: whether Python uses IPython if it is installed. `javascriptPreparer`: see
 * {@link ContextLanguage.preparer}.
 */
export function contextLanguages({
  ipython,
  javascriptPreparer,
}: {
  readonly ipython: boolean;
  readonly javascriptPreparer: ContextLanguage["preparer"] & {};
}): readonly ContextLanguage[] {
  return [
    {
      name: "python",
      command: "python3",
      args: ["-c", pythonContextCommand, pythonDriver, ipython ? "ipython" : "no-ipython"],
      suffix: ".py",
      startsFileAnew: true,
      readAtStart: readAtStart.python,
    },
    {
      name: "javascript",
      command: "node",
      args: ["-e", javascriptDriver],
      suffix: ".js",
      startsFileAnew: false,
      readAtStart: readAtStart.javascript,
      preparer: javascriptPreparer,
    },
  ];
}
