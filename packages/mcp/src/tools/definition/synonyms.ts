/** Words that models know from other servers for the arguments of these tools. */

/** Words that mean the same, in small letters without "_", the likeliest first. */
const groups: ReadonlyArray<readonly string[]> = [
  ["cwd", "workdir", "workingdir", "workingdirectory", "directory", "dir", "folder"],
  ["timeout", "timeoutseconds", "timeoutms", "timelimit", "ttl", "lifetime", "duration", "seconds"],
  ["env", "envs", "envvars", "environment", "environmentvariables", "variables", "vars"],
  ["code", "script", "source", "sourcecode", "program", "snippet"],
  ["command", "cmd", "commandline", "shellcommand"],
  ["language", "lang", "runtime", "kernel", "interpreter"],
  ["path", "file", "filename", "filepath", "target", "destination"],
  ["content", "contents", "text", "data", "body"],
  ["sandboxid", "id", "sandbox", "session", "sessionid", "containerid", "vmid"],
  ["processid", "jobid", "executionid", "taskid"],
  ["templatename", "template", "image", "snapshot", "name"],
  ["internetaccess", "internet", "network", "allowinternetaccess", "networkaccess"],
  ["memorymb", "memory", "ram"],
  ["vcpu", "cpu", "cpus", "cores", "vcpus"],
  ["maxresults", "limit", "max", "count", "pagesize"],
  ["arguments", "args", "params", "parameters", "input"],
];

const letters = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** The argument, one of `known`, that others call `name`. Undefined if there is none. */
export function argumentForWord(name: string, known: readonly string[]): string | undefined {
  const group = groups.find((words) => words.includes(letters(name))) ?? [];
  const meant = group.find((word) => known.some((each) => letters(each) === word));
  return known.find((each) => letters(each) === meant);
}

/** Whether `name` counts in milliseconds, which no argument of these tools does. */
export function isInMilliseconds(name: string): boolean {
  return /(ms|millis|milliseconds)$/i.test(name);
}
