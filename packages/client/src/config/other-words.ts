/** Words of other libraries for our options, in small letters without "_", each with the likeliest of our names first. */
const meanings: Readonly<Record<string, readonly string[]>> = {
  abortcontroller: ["signal"],
  accesstoken: ["bearerToken"],
  apiurl: ["baseUrl"],
  contextid: ["context"],
  cpu: ["vcpu", "limits"],
  cpus: ["vcpu", "limits"],
  cwd: ["workdir"],
  dir: ["workdir"],
  domain: ["baseUrl"],
  endpoint: ["baseUrl"],
  environment: ["env"],
  environmentvariables: ["env"],
  folder: ["workdir"],
  host: ["baseUrl"],
  image: ["template"],
  interpreter: ["language"],
  kernel: ["language"],
  labels: ["metadata"],
  lifetime: ["timeoutSeconds"],
  memory: ["memoryMb", "limits"],
  memorymb: ["limits"],
  mountpoints: ["mounts"],
  network: ["internetAccess"],
  ram: ["memoryMb", "limits"],
  resources: ["limits"],
  runtime: ["language", "template"],
  session: ["context"],
  sessionid: ["context"],
  snapshot: ["template"],
  tags: ["metadata"],
  timelimit: ["timeoutSeconds"],
  ttl: ["timeoutSeconds"],
  url: ["baseUrl"],
  variables: ["env"],
  vars: ["env"],
  vcpus: ["vcpu", "limits"],
  volumes: ["mounts"],
};

/** The option, one of `names`, that other libraries call `name`. Undefined if there is none. */
export function optionForWord(name: string, names: readonly string[]): string | undefined {
  const word = name.toLowerCase().replaceAll("_", "");
  const meant = Object.hasOwn(meanings, word) ? meanings[word] : undefined;
  return meant?.find((each) => names.includes(each));
}

/** What to write where a call got something else than an object of options, such as `create("python")`. */
export function optionsInWords(what: string): string {
  const example = Object.hasOwn(examples, what) ? examples[what] : undefined;
  return example === undefined ? "Give an object, such as { signal }." : `Write ${example}.`;
}

const examples: Readonly<Record<string, string>> = {
  SandboxClient: "new SandboxClient({ apiKey })",
  create: "create({ template: name })",
  getOrCreate: "getOrCreate(name, { template })",
  list: 'list({ status: "running" })',
  execute: 'execute(code, { language: "python" })',
  executeRich: 'executeRich(code, { language: "python" })',
  executeStream: 'executeStream(code, { language: "python" })',
  executeIsolated: 'executeIsolated(code, { language: "python" })',
  executeIsolatedStream: 'executeIsolatedStream(code, { language: "python" })',
  "commands.run": 'commands.run(["program", "argument"], { workdir })',
};
