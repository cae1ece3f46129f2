import type { JWK } from "jose";
import type { ProgramIdentity } from "../machine/program-identity.js";

/** Where an agent listens. An inherited descriptor is a socket that already listens. */
export type ListenAddress =
  | { readonly fd: number }
  | { readonly socket: string }
  | { readonly host: string; readonly port: number };

/** The sandbox's way out: a proxy that answers on a Unix socket. */
export interface EgressConfig {
  readonly socket: string;
  /** A script that makes Node.js use proxies as others do. */
  readonly nodePreload?: string;
}

export interface SandboxLimits {
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly maxProcesses?: number;
}

/** What an agent is told by whoever started it. Nothing in it is a secret: the sandbox's code may read it. */
export interface AgentConfig {
  readonly sandboxId: string;
  /** Ed25519, SPKI in PEM or a JWK: what tokens are verified with. */
  readonly publicKey: string | JWK;
  readonly listen: ListenAddress;
  readonly template: string;
  readonly limits: SandboxLimits;
  /** Languages the template promises; found out from the search path when absent. */
  readonly languages?: readonly string[];
  /** Variables that every program gets, as its template has them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Variables that the agent was started with and that programs do not inherit. */
  readonly ownVariables: readonly string[];
  /**
   * Whether the agent is alone in a machine of its own. Only then may the control plane have it end every other process
   * and fill the file system.
   */
  readonly ownsMachine: boolean;
  /**
   * Who programs run as, where they are not to run as the agent itself. It must have been started with CAP_SETUID and
   * CAP_SETGID in a way that no program inherits: as root with the securebit `no_setuid_fixup`.
   */
  readonly runProgramsAs?: ProgramIdentity;
  /** Directories whose files are served. The first is where relative paths start, the last holds temporary files. */
  readonly roots: readonly string[];
  /** Without it, programs are told of no proxy. */
  readonly egress?: EgressConfig;
  /** Bytes of each output stream that an answer holds. */
  readonly outputLimit: number;
  /** Bytes of each output stream that are kept in a file when the answer does not hold them all. */
  readonly outputFileLimit: number;
  /**
   * Milliseconds that an interpreter waits for code once the sandbox is in use: where code runs seldom its memory is
   * worth more than its start. Before the first use it waits as long as it takes.
   */
  readonly interpreterWait: number;
  /** Programs that may run at the same time. */
  readonly maxExecutions: number;
  /** Whether Python uses IPython where that is installed. */
  readonly ipython: boolean;
}

const mebibyte = 1024 * 1024;

const defaults = {
  template: "base",
  limits: {},
  ownVariables: [],
  ownsMachine: false,
  roots: ["/workspace", "/tmp"],
  outputLimit: mebibyte,
  outputFileLimit: 64 * mebibyte,
  interpreterWait: 60_000,
  maxExecutions: 16,
  ipython: true,
} as const;

/** Reads the JSON configuration; throws an error that says what is missing. */
export function parseAgentConfig(text: string | undefined): AgentConfig {
  if (!text) throw new Error("There is no configuration: set CLOUD_SANDBOX_AGENT_CONFIG or pass --config.");
  const given = parseJson(text);
  if (typeof given.sandboxId !== "string" || given.sandboxId === "")
    throw new Error("The configuration has no sandboxId.");
  if (given.publicKey === undefined) throw new Error("The configuration has no publicKey.");
  if (given.listen === undefined) throw new Error("The configuration does not say where to listen.");
  const { sandboxId, publicKey, listen } = given;
  return { ...defaults, ...given, sandboxId, publicKey, listen };
}

function parseJson(text: string): Partial<AgentConfig> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("The configuration is not valid JSON.", { cause });
  }
}
