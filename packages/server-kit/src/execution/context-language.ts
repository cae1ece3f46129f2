/// <reference path="../raw-text.d.ts" />
import javascriptContextDriver from "./drivers/javascript-context-driver.cjs?raw";
import javascriptDisplays from "./drivers/javascript-displays.cjs?raw";
import javascriptErrors from "./drivers/javascript-errors.cjs?raw";
import javascriptModules from "./drivers/javascript-modules.cjs?raw";
import javascriptProcess from "./drivers/javascript-process.cjs?raw";
import javascriptStart from "./drivers/javascript-start.cjs?raw";
import pythonContextCommand from "./drivers/python-context-command.py?raw";
import pythonContextDriver from "./drivers/python-context-driver.py?raw";
import pythonDisplays from "./drivers/python-displays.py?raw";
import pythonStart from "./drivers/python-start.py?raw";

/**
 * A language that keeps variables between executions: the interpreter's command, and the driver that takes one execution after the
 * other.
 */
export interface ContextLanguage {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the interpreter runs, in this order: to be sent as {@link sourceBytes} over its control channel, before any request. */
  readonly sources: readonly string[];
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

/** The driver of JavaScript contexts. */
export const javascriptDriver = [
  javascriptModules,
  javascriptDisplays,
  javascriptErrors,
  javascriptProcess,
  javascriptContextDriver,
].join("\n");

/**
 * The arguments with which an interpreter reads its first source from its control channel, and runs it. The source itself is no
 * argument: `ps` would print all of it, and `pkill -f` would find words in it.
 */
export const startArguments = { python: ["-c", pythonStart], javascript: ["-e", javascriptStart] } as const;

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
      args: [...startArguments.python, ipython ? "ipython" : "no-ipython"],
      sources: [pythonContextCommand, pythonDriver],
      suffix: ".py",
      startsFileAnew: true,
      readAtStart: readAtStart.python,
    },
    {
      name: "javascript",
      command: "node",
      args: startArguments.javascript,
      sources: [javascriptDriver],
      suffix: ".js",
      startsFileAnew: false,
      readAtStart: readAtStart.javascript,
      preparer: javascriptPreparer,
    },
  ];
}
