import { answerTasks } from "./answer-tasks.mjs";
import { pythonPrograms } from "./programs.mjs";

const [module, directory, which] = process.argv.slice(2);
const { loadPyodide } = await import(module);
const programs = pythonPrograms("/workspace");
let one;
/** They share a thread: two that load at the same time are not sooner there. */
let loaded = Promise.resolve();

answerTasks({
  start: async () => {
    if (which === "one") one = await load();
  },
  run: async (program) => runIn(one ?? (await loadInTurn()), programs[program]),
});

function loadInTurn() {
  loaded = loaded.then(load);
  return loaded;
}

async function load() {
  const python = await loadPyodide();
  python.FS.mkdir("/workspace");
  python.mountNodeFS("/workspace", directory);
  return python;
}

function runIn(python, code) {
  let output = "";
  python.setStdout({
    batched: (line) => {
      output += line;
    },
  });
  python.runPython(code);
  return output;
}
