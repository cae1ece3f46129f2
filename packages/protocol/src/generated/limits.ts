// Generated from openapi/*.yaml by scripts/generate.mjs. Change the contracts, then run "npm run generate".

/** Limits that the contracts set. */
export const limits = {
  /** Longest life of a sandbox from now, in seconds. */
  sandboxSeconds: 86400,
  /** Longest time limit of code and commands that a caller waits for, in seconds. */
  executionSeconds: 300,
  /** Their time limit when none is given, in seconds. */
  executionDefaultSeconds: 30,
  /** Longest time limit of background programs and of streamed commands, in seconds. */
  backgroundSeconds: 86400,
  /** Time limit of background programs when none is given, in seconds. */
  backgroundDefaultSeconds: 300,
  /** Time limit of code that reports to a URL when none is given, in seconds. */
  asyncDefaultSeconds: 3600,
  /** Contexts that are alive in a sandbox. */
  contexts: 8,
  /** Standard input of code, in characters. */
  inputCharacters: 1000000,
  /** Displayed values of an execution. */
  displayedValues: 64,
  /** Displayed values of an execution, together, in bytes. */
  displayedBytes: 8388608,
  /** Name, message and traceback of an exception, each, in characters. */
  exceptionCharacters: 65536,
  /** Results that the cache keeps. */
  cachedOutcomes: 256,
  /** How long it keeps them, in seconds. */
  cachedSeconds: 3600,
  /** What is kept of each output of a program until it is read; then the program waits, in bytes. */
  keptOutputBytes: 67108864,
  /** A file that is read as JSON, in bytes. */
  textFileBytes: 67108864,
  /** The body of a request with code, or with the content of a file as JSON, in bytes. */
  requestBytes: 33554432,
} as const;

/** The languages of code, and further names that are accepted for them. */
export const languages = {
  python: ["python3"],
  javascript: ["js","node","nodejs"],
  bash: ["sh","shell"],
  go: ["golang"],
} as const;
