import { posix } from "node:path";
import type { Readable } from "node:stream";
import { javascriptDriver, pythonDriver, readAtStart, startArguments } from "./context-language.js";
import pythonProgramCommand from "./drivers/python-program-command.py?raw";

/** A program to start as a process. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to those of the request. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. Default: empty. */
  readonly input?: string | Readable;
  /** Deletes the files that were created for this program. */
  readonly cleanUp?: () => Promise<void>;
}

/** The variable with code for a shell. */
const codeVariable = "CLOUD_SANDBOX_CODE";

/**
 * Runs shell code that is passed in an environment variable, because all users of the host can read command lines.
 */
export function shellProgram(shell: string, code: string): Program {
  return {
    command: shell,
    args: ["-c", `eval "unset ${codeVariable};$${codeVariable}"`],
    env: { [codeVariable]: code },
  };
}

/**
 * Whether a text can be passed in an environment variable. Linux allows at most 128 KiB for one, and no null byte.
 */
export const fitsVariable = (text: string) =>
  text.length < 100_000 && Buffer.byteLength(text) < 100_000 && !text.includes("\0");

/**
 * The descriptors with which a program that runs without an agent is started. Its standard input, output and error are
 * empty.
 */
export const oneShotDescriptors = { control: 3, stdout: 4, stderr: 5 } as const;

/** The driver that runs Python code without an agent, and the name of its file. */
export const oneShotPythonDriver = { name: "python-driver", source: pythonDriver } as const;

/** The languages in which a program can be run without an agent. */
export type OneShotLanguage = "python" | "javascript" | "bash";

/** How to start a program that runs without an agent, in an interpreter of its own that ends with it. */
export interface OneShotProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to those of the request. */
  readonly env: Readonly<Record<string, string>>;
  /** What its interpreter runs: to be sent as {@link sourceBytes} over the control channel when it is started. */
  readonly sources: readonly string[];
  /** Whether a driver runs the code: it takes `request` over the control channel and reports the end there. */
  readonly hasDriver: boolean;
  /**
   * The fields to send with {@link ControlChannel.send} when the program may begin. The text after them is the code for a
   * driver, else a line break. `filename`: the name of the program's file in the workspace. `environment`: variables that it
   * gets beside those that it was started with; only for a driver.
   */
  readonly request: (filename?: string, environment?: Readonly<Record<string, string>>) => readonly string[];
  /** Matches environment variables that the interpreter reads only when it starts, so that a request comes too late for them. */
  readonly readAtStart: RegExp;
}

/** Variables by which interpreters find the user's packages, the language and the encoding. */
const userAndLocale = "^(HOME$|LANG|LC_)";

/**
 * The program that runs `code`. Undefined if that needs an agent: JavaScript whose import and export statements have to be
 * rewritten, and bash code that has to be in a file. `drivers` is the directory with the files of {@link oneShotPythonDriver}.
 */
export function oneShotProgram(
  language: OneShotLanguage,
  code: string,
  { drivers, workspace, filename }: { drivers: string; workspace: string; filename?: string | undefined },
): OneShotProgram | undefined {
  const { stdout, stderr } = oneShotDescriptors;
  const outputs = [`o/proc/self/fd/${stdout}`, `e/proc/self/fd/${stderr}`, `s${workspace}`];
  const driven = (usual: readonly string[]): Pick<OneShotProgram, "env" | "hasDriver" | "request"> => ({
    env: {},
    hasDriver: true,
    request: (filename, environment = {}) => [
      ...outputs,
      ...Object.entries(environment).map(([name, value]) => `+${name}=${value}`),
      ...(filename === undefined ? usual : programFields(posix.join(workspace, filename))),
    ],
  });
  switch (language) {
    case "python":
      return {
        command: "python3",
        args: [...startArguments.python, `${drivers}/${oneShotPythonDriver.name}`, "ipython"],
        sources: [pythonProgramCommand],
        readAtStart: new RegExp(`${readAtStart.python.source}|${userAndLocale}|^SETUPTOOLS_`),
        ...driven(programFields("/tmp/execution-1.py")),
      };
    case "javascript":
      if (/\b(import|export)\b/.test(code)) return undefined;
      return {
        command: "node",
        args: startArguments.javascript,
        sources: [javascriptDriver],
        readAtStart: new RegExp(`${readAtStart.javascript.source}|${userAndLocale}`),
        ...driven(programFields(`${workspace}/execution-1.js`)),
      };
    case "bash": {
      if (!fitsVariable(code)) return undefined;
      return {
        command: "sh",
        args: [
          "-c",
          bashStart,
          "sh",
          posix.join(...(filename === undefined ? ["/tmp/execution-1.sh"] : [workspace, filename])),
          workspace,
        ],
        env: { [codeVariable]: code },
        sources: [],
        hasDriver: false,
        readAtStart: /./,
        request: () => ["begin"],
      };
    }
  }
}

/**
 * The fields of a driver's request that make the code a program of its own, with that file, to which the driver writes the
 * code unless it exists.
 */
const programFields = (path: string): readonly string[] => [`n${posix.basename(path)}`, `p${path}`, "w"];

/**
 * Becomes a bash program without a driver. The shell, which does not read `BASH_ENV`, waits for a line on the control channel, writes
 * the code to a file, reports its start as a driver would, and runs the file in the workspace with the outputs. The code is in a
 * variable, because all users of the host can read command lines.
 */
const bashStart = `read -r _ <&3 || exit; printf %s "$${codeVariable}" >"$1"; cd "$2"; unset ${codeVariable} OLDPWD; printf '\\0\\0\\0\\1S' >&3; exec bash "$1" >&4 2>&5 3>&- 4>&- 5>&-`;
