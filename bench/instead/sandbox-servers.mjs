import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { serve } from "../serve.mjs";
import { javascriptPrograms, pythonPrograms } from "./programs.mjs";

/** A sandbox ends the interpreter that it starts in advance when nobody has used it for a minute. */
const idleMs = 65_000;

/** Programs that print a line and wait. A one-shot has no input that could end. */
const sleeping = {
  python: "import time; print(1, flush=True); time.sleep(300)",
  javascript: "console.log(1); setTimeout(() => {}, 300_000)",
};

/** A local server of this project. `args`: options of its runtime. */
export async function startSandboxServer(directory, args) {
  const server = await serve("--max-sandboxes", "128", "--memory-overcommit", "16", ...args);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const stop = async () => {
    await client.close();
    await server.stop();
  };
  const content = readFileSync(join(directory, "file"));
  const create = () => client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 7200 });
  return {
    inNew: (language) => inNew(client, create, content, language),
    inOne: () => inOne(create, content),
    stop,
  };
}

/** Runs every program in a sandbox of its own. A one-shot takes no file: for the program that reads one, a sandbox is created. */
function inNew(client, create, content, language) {
  const programs = (language === "python" ? pythonPrograms : javascriptPrograms)("/workspace");
  return {
    run: async (program) => {
      if (program !== "file") return textOf(await client.executeIsolated(programs[program], { language }));
      const sandbox = await create();
      try {
        await sandbox.files.write("/workspace/file", content);
        return textOf(await sandbox.execute(programs.file, { language }));
      } finally {
        await sandbox.delete();
      }
    },
    hold: async () => {
      const end = new AbortController();
      let ended;
      await new Promise((resolve, reject) => {
        const options = { language, timeoutSeconds: 300, onStdout: resolve, signal: end.signal };
        ended = client.executeIsolated(sleeping[language], options).then(reject, reject);
      });
      return async () => {
        end.abort();
        await ended;
      };
    },
  };
}

/** Runs all programs in one sandbox, one after the other, as a context does. What is held is a sandbox that nobody has used for a minute. */
async function inOne(create, content) {
  const programs = pythonPrograms("/workspace");
  const sandbox = await create();
  await sandbox.files.write("/workspace/file", content);
  let last = Promise.resolve();
  const execute = async (program) => textOf(await sandbox.execute(programs[program], { language: "python" }));
  return {
    // More than 32 executions may not wait for a context.
    run: (program) => {
      last = last.then(() => execute(program));
      return last;
    },
    hold: async () => {
      const idle = await create();
      await idle.execute("1", { language: "python" });
      await sleep(idleMs);
      return () => idle.delete();
    },
    close: () => sandbox.delete(),
  };
}

function textOf({ stdout, stderr, exitCode }) {
  if (exitCode !== 0) throw new Error(`the program ended with ${exitCode}: ${stderr}`);
  return stdout.trim();
}
