import { limits } from "@cloud-sandbox/protocol/limits";
import type { AuthorityFiles } from "@cloud-sandbox/server-kit/execution";
import type { JWK } from "jose";
import type { ProgramIdentity } from "../machine/program-identity.js";

/** Where an agent listens. `fd` is an inherited file descriptor of a socket that is already listening. */
export type ListenAddress =
  | { readonly fd: number }
  | { readonly socket: string }
  | { readonly host: string; readonly port: number };

/** The sandbox's access to the internet: a proxy outside the sandbox that answers on a Unix socket. */
export interface EgressConfig {
  readonly socket: string;
  /** Path of a script, preloaded into Node.js, that makes Node.js honour the proxy variables as other programs do. */
  readonly nodePreload?: string;
  /** Whether programs' Node.js is of version 18.18 or newer, and can import the script. Absent: the agent asks it. */
  readonly importsPreload?: boolean;
}

export interface SandboxLimits {
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly maxProcesses?: number;
}

/**
 * The agent's configuration, passed in by the process that starts it. It contains no secrets, because code in the
 * sandbox may read it.
 */
export interface AgentConfig {
  readonly sandboxId: string;
  /** The Ed25519 public key that verifies tokens: SPKI in PEM, or a JWK. */
  readonly publicKey: string | JWK;
  readonly listen: ListenAddress;
  readonly template: string;
  readonly limits: SandboxLimits;
  /** Languages that the template offers. Default: those whose interpreter is on the search path. */
  readonly languages?: readonly string[];
  /** Whether the template offers a desktop. Default: whether `Xtigervnc` is on the search path. */
  readonly desktop?: boolean;
  /** Environment variables that the template sets for every program. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The directory in which programs start. Default: the first of `roots`. */
  readonly workdir?: string;
  /** Names of variables from the agent's own environment that programs must not inherit. */
  readonly ownVariables: readonly string[];
  /**
   * Whether the agent is the only tenant of its machine. Only then does it serve the internal operations with which
   * the control plane ends all other processes and writes files anywhere.
   */
  readonly ownsMachine: boolean;
  /**
   * The user and group that programs run as. Default: those of the agent. If set, the agent must have been started as
   * root with the securebit `no_setuid_fixup`, so that it has CAP_SETUID and CAP_SETGID but no program inherits them.
   */
  readonly runProgramsAs?: ProgramIdentity;
  /** Directories whose files are served. Relative paths start in the first; temporary files go to the last. */
  readonly roots: readonly string[];
  /** Paths of what is mounted from outside. Its files are not part of those that are saved when the sandbox is stopped. */
  readonly mounts: readonly string[];
  /** Access to the internet. If absent, no proxy variables are set for programs. */
  readonly egress?: EgressConfig;
  /** Authorities that programs trust beside their own. */
  readonly authorities?: AuthorityFiles;
  /** A directory with files that the home directory begins with. */
  readonly homeFiles?: string;
  /** Most bytes of each output stream that an answer contains. */
  readonly outputLimit: number;
  /** Most bytes of each output stream that are kept in a file when the output is longer than `outputLimit`. */
  readonly outputFileLimit: number;
  /**
   * Milliseconds that an interpreter started ahead waits for code once the sandbox has run something. After that it
   * is ended, because its memory is then worth more than a fast start. Before the first execution it waits without
   * limit.
   */
  readonly interpreterWait: number;
  /** Most programs that may run at the same time. */
  readonly maxExecutions: number;
  /** Whether Python contexts use IPython if it is installed. */
  readonly ipython: boolean;
}

const mebibyte = 1024 * 1024;

const defaults = {
  template: "base",
  limits: {},
  ownVariables: [],
  ownsMachine: false,
  roots: ["/workspace", "/tmp"],
  mounts: [],
  outputLimit: mebibyte,
  outputFileLimit: limits.keptOutputBytes,
  interpreterWait: 60_000,
  maxExecutions: 16,
  ipython: true,
} as const;

/** Parses the JSON configuration and fills in the defaults. Throws an error that names what is missing. */
export function parseAgentConfig(text: string | undefined): AgentConfig {
  if (!text) throw new Error("There is no configuration: set CLOUD_SANDBOX_AGENT_CONFIG or pass --config.");
  const settings = parseJson(text);
  if (typeof settings.sandboxId !== "string" || settings.sandboxId === "")
    throw new Error("The configuration has no sandboxId: set it to the sandbox's id.");
  if (settings.publicKey === undefined)
    throw new Error("The configuration has no publicKey: set it to the control plane's Ed25519 public key.");
  if (settings.listen === undefined)
    throw new Error("The configuration has no listen: set it to the address or descriptor to listen on.");
  const { sandboxId, publicKey, listen } = settings;
  return { ...defaults, ...settings, sandboxId, publicKey, listen };
}

function parseJson(text: string): Partial<AgentConfig> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("The configuration is not valid JSON.", { cause });
  }
}
