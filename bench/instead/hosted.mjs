import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testModule } from "../test-module.mjs";

/** Other people's packages, and the Node.js that isolated-vm needs. They are installed outside of the workspace, as those of the tests. */
const [pyodide, isolatedVm, nodeVersion] = ["pyodide@314.0.7", "isolated-vm@7.0.1", "24.21.0"];

/** Pyodide in a Node.js process: a "new" one for every program, or "one" for all. What is held is a process with one. */
export async function startPyodide(directory, which) {
  const { scratchProject } = await testModule("support/scratch-project.ts");
  const project = await scratchProject("pyodide", [pyodide]);
  const module = join(project, "node_modules/pyodide/pyodide.mjs");
  const start = (kind) => hostedBy("pyodide-process.mjs", [module, directory, kind]);
  const hold = async () => (await start("one")).close;
  return { ...(await start(which)), hold };
}

/** Isolates of V8, one for each program, in a Node.js process. */
export async function startIsolates(directory) {
  const { otherNode, scratchProject } = await testModule("support/scratch-project.ts");
  const project = await scratchProject("isolated-vm", [isolatedVm]);
  const module = join(project, "node_modules/isolated-vm/isolated-vm.js");
  return hostedBy("isolated-vm-process.mjs", [module, directory], { execPath: await otherNode(nodeVersion) });
}

/** Starts a process that runs programs by itself, and asks it by messages. */
async function hostedBy(file, args, options) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, options);
  const asked = new Map();
  let last = 0;
  child.on("message", ({ id, output, error }) => {
    const { resolve, reject } = asked.get(id);
    asked.delete(id);
    if (error === undefined) resolve(output);
    else reject(new Error(error));
  });
  child.once("exit", (code) => {
    for (const { reject } of asked.values()) reject(new Error(`${file} ended with ${code}`));
  });
  const ask = (message) =>
    new Promise((resolve, reject) => {
      last += 1;
      asked.set(last, { resolve, reject });
      child.send({ id: last, ...message });
    });
  await ask({ task: "start" });
  return {
    run: (program) => ask({ task: "run", program }),
    hold: async () => {
      await ask({ task: "hold" });
      return () => ask({ task: "release" });
    },
    async close() {
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}
