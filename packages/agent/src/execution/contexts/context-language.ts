import { withoutImportStatements } from "./import-statements.js";
import javascriptContextDriver from "./javascript-context-driver.cjs?raw";
import pythonContextCommand from "./python-context-command.py?raw";
import pythonContextDriver from "./python-context-driver.py?raw";
import pythonDisplays from "./python-displays.py?raw";

/** A language whose variables last: its interpreter, and what that runs to take one execution after the other. */
export interface ContextLanguage {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the interpreter, the loader or the C library reads when a process starts, and never again. */
  readonly readAtStart: RegExp;
  /** What the driver is sent for code. */
  readonly prepare?: (code: string) => Promise<string>;
}

const pythonDriver = `${pythonDisplays}\n${pythonContextDriver}\nboot(displays)`;

const readByLoader = "LD_|MALLOC_|GLIBC_|GCONV_|LOCPATH$";

/** `ipython`: whether IPython is used where it is installed. */
export function contextLanguages({ ipython }: { readonly ipython: boolean }): readonly ContextLanguage[] {
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
      prepare: withoutImportStatements,
    },
  ];
}
