/** All prompts, in the order in which clients list them. */

import { templateNames } from "../resources/templates.js";
import type { Registration } from "../session/profile.js";
import { languages } from "../tools/definition/input-fields.js";
import { oneOf, prompt, quoted } from "./prompt.js";

const language = {
  description: "Language of the program",
  complete: oneOf(languages),
  optional: true,
} as const;
const template = { description: "Template to use", complete: templateNames, optional: true } as const;

const runOnce = prompt({
  name: "run_once",
  title: "Run a program once",
  description: "Writes a program for a task, runs it in a sandbox of its own, and reports what came out.",
  arguments: { task: { description: "What the program must do" }, language },
  tools: ["execute_code_isolated"],
  text: ({ task = "", language = "python" }) => `
Write a ${language} program for this task and run it with execute_code_isolated:

${quoted(task)}

If exit_code is not 0, read stderr, correct the program and run it again. Then report the result, with the program.`,
});

const analyseData = prompt({
  name: "analyse_data",
  title: "Analyse data with plots",
  description: "Loads data into a sandbox, answers a question about it, and shows plots.",
  arguments: {
    question: { description: "What you want to know" },
    data: { description: "The data, such as CSV, or where it is" },
    template,
  },
  tools: ["create_sandbox", "file_write", "execute_code_rich", "delete_sandbox"],
  text: ({ question = "", data = "", template = "code-interpreter" }) => `
Answer this question about the data below:

${quoted(question)}

${quoted(data)}

1. create_sandbox with template_name ${JSON.stringify(template)}.
2. file_write the data to /workspace, if it is given above; download it if that is where it is.
3. execute_code_rich with Python: load the data, look at its size, types and missing values before anything else.
4. Compute the answer, and plot what shows it; plots come back as images.
5. Report the answer with its numbers and units, what the plots show, and what the data cannot tell.
6. delete_sandbox.`,
});

const testSnippet = prompt({
  name: "test_snippet",
  title: "Test a snippet",
  description: "Runs a piece of code in a sandbox against cases that could break it.",
  arguments: {
    code: { description: "The code" },
    language,
    expectation: { description: "What it must do", optional: true },
  },
  tools: ["execute_code_isolated"],
  text: ({ code = "", language = "python", expectation }) => `
Test this ${language} code in a sandbox:

${quoted(code, language)}
${expectation === undefined ? "" : `\nIt must do this:\n\n${quoted(expectation)}\n`}
Run it as it is with execute_code_isolated first. Then write cases that could break it (empty, large and unusual input, errors) and run them the same way. Report each case with what came out, the faults that you found, and the corrected code.`,
});

const project = prompt({
  name: "project",
  title: "Work on a project in several steps",
  description: "Builds something of several files in one sandbox, with its tests.",
  arguments: { goal: { description: "What to build" }, template },
  tools: [
    "create_sandbox",
    "file_write",
    "run_command",
    "update_sandbox_timeout",
    "file_read",
    "delete_sandbox",
  ],
  text: ({ goal = "", template = "code-interpreter" }) => `
Build this in a sandbox:

${quoted(goal)}

1. create_sandbox with template_name ${JSON.stringify(template)}; keep its id.
2. Plan the files, and write each with file_write below /workspace.
3. Install what is needed and run it with run_command. Write tests, and run them until they pass.
4. When the deadline is near, update_sandbox_timeout.
5. Show the files that matter with file_read and say how to run them. Ask before delete_sandbox: the files go with it.`,
});

const longJob = prompt({
  name: "long_job",
  title: "Run a long job",
  description: "Starts work that takes minutes in the background, watches it, and fetches its results.",
  arguments: {
    task: { description: "What has to be done" },
    minutes: { description: "How long it may take, in minutes", optional: true },
  },
  tools: [
    "create_sandbox",
    "execute_code_background",
    "execute_process_output",
    "execute_kill_process",
    "file_read",
    "delete_sandbox",
  ],
  text: ({ task = "", minutes = "10" }) => `
Do this in the background of a sandbox; it may take ${JSON.stringify(minutes)} minutes:

${quoted(task)}

1. create_sandbox with a timeout_seconds that is longer than the job.
2. Have the program print its progress, and write its results to a file below /workspace.
3. Start it with execute_code_background, and keep the process_id.
4. Follow it with execute_process_output, which can wait for its end, and say how far it is. Stop it with execute_kill_process when it goes wrong.
5. When it has ended, read the results with file_read, report them, and delete_sandbox.`,
});

const chooseTemplate = prompt({
  name: "choose_template",
  title: "Choose a template",
  description: "Finds the template that fits what you want to do.",
  arguments: { purpose: { description: "What you want to do in a sandbox" } },
  tools: ["list_templates", "get_template"],
  text: ({ purpose = "" }) => `
Which template fits this purpose?

${quoted(purpose)}

Call list_templates, and get_template for those that may fit. Compare languages, features and resources with what the purpose needs. Name the one to use and why, or say that none fits and what is missing.`,
});

/** The guide that HOPX's own MCP server offers under this name. */
const quickCodeExecution = prompt({
  name: "quick_code_execution",
  title: "Run code quickly",
  description: "Says how to run code: in one call, or in a sandbox for several steps.",
  arguments: {},
  tools: ["execute_code_isolated", "create_sandbox", "execute_code", "delete_sandbox"],
  text: () => `
Run code in isolated sandboxes:

1. For one program, call execute_code_isolated with its code and language (python, javascript, bash or go). It makes a sandbox, runs the code and deletes the sandbox.
2. Read stdout, stderr and exit_code. Where exit_code is not 0, correct the program and run it again.
3. Give secrets and settings in env, and more time in timeout, up to 300 seconds.
4. For several steps that share files and variables, call create_sandbox once, execute_code with its sandbox_id for each step, and delete_sandbox at the end.`,
});

export const prompts: readonly Registration[] = [
  runOnce,
  analyseData,
  testSnippet,
  project,
  longJob,
  chooseTemplate,
  quickCodeExecution,
];
