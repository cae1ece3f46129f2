/** Words of other libraries for our options, in small letters without "_". Of several options the first that there is counts. */
const meanings: ReadonlyArray<readonly [option: string, words: string]> = [
  ["workdir", "cwd dir folder"],
  ["env", "environment environmentvariables variables vars"],
  ["timeoutSeconds", "ttl lifetime timelimit"],
  ["language", "runtime kernel interpreter"],
  ["template", "runtime image snapshot"],
  ["context", "session sessionid"],
  ["memoryMb", "memory ram"],
  ["vcpu", "cpu cpus vcpus"],
  ["limits", "resources memory ram memorymb cpu cpus vcpus"],
  ["metadata", "labels tags"],
  ["mounts", "volumes"],
  ["internetAccess", "network"],
  ["baseUrl", "url apiurl endpoint domain host"],
];

/** The option, one of `names`, that other libraries call `name`. Undefined if there is none. */
export function optionForWord(name: string, names: readonly string[]): string | undefined {
  const word = name.toLowerCase().replaceAll("_", "");
  return meanings.find(([option, words]) => names.includes(option) && words.split(" ").includes(word))?.[0];
}
