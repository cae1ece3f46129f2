/**
 * Starts a control plane in this process. The only file that names the package `cloud-sandbox-local`
 * (docs/decisions/0031-a-client-without-a-key.md).
 */

import { ConfigurationError, clientClosed } from "../errors/errors.js";
import type { Account } from "../transport/contract-clients.js";
import type { LocalBackendOptions, StartedBackend } from "./client-options.js";

/**
 * The part of `cloud-sandbox-local` used here. Declared again, so that programs compile without that package installed.
 */
interface LocalPackage {
  startLocalControlPlane(options: LocalBackendOptions & { holdsProcess: boolean }): Promise<ControlPlane>;
}

interface ControlPlane extends StartedBackend {
  readonly apiKey: string;
  close(): Promise<void>;
}

/**
 * A variable, not a literal in `import()`: bundlers would fail if the package is missing, or bundle it without the files
 * it needs beside it.
 */
const packageName = "cloud-sandbox-local";

/**
 * A control plane in this process. The first call starts it; closing the client, or the process running out of work, ends
 * it.
 */
export class LocalBackend {
  #opening: Promise<ControlPlane> | undefined;
  #isClosed = false;

  constructor(private readonly options: LocalBackendOptions | undefined) {}

  /** Starts the control plane once for all concurrent calls. After a failure, the next call tries again. */
  async open(): Promise<Account> {
    if (this.#isClosed) throw clientClosed();
    this.#opening ??= this.#start().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    const { apiKey, url } = await this.#opening;
    return { apiKey, bearerToken: undefined, baseUrl: new URL(url) };
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    process.off("beforeExit", this.close);
    const controlPlane = await this.#opening?.catch(() => undefined);
    await controlPlane?.close();
  };

  async #start(): Promise<ControlPlane> {
    const { startLocalControlPlane } = await localPackage();
    const { onReady, ...options } = this.options ?? {};
    const controlPlane = await startLocalControlPlane({ ...options, holdsProcess: false }).catch(refuse);
    process.once("beforeExit", this.close);
    const { internet, isolation, runtime, url } = controlPlane;
    onReady?.({ internet, isolation, runtime, url });
    return controlPlane;
  }
}

async function localPackage(): Promise<LocalPackage> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ packageName);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && /MODULE_NOT_FOUND$/.test(String(cause.code))))
      throw cause;
    throw new ConfigurationError({
      summary: `There is no API key, and ${packageName} is not installed.`,
      hint: `Run one of these lines:\n  npm install ${packageName}        # sandboxes on this machine (Linux, or Docker on macOS)\n  export CLOUD_SANDBOX_API_KEY=...       # sandboxes in the cloud`,
      code: "LOCAL_BACKEND_MISSING",
      cause,
    });
  }
}

/** Passes on the backend's message: its errors are written for people and name the command that fixes the problem. */
function refuse(cause: unknown): never {
  throw new ConfigurationError({
    summary: cause instanceof Error ? cause.message : "The local backend did not start.",
    hint: "To use the cloud, set CLOUD_SANDBOX_API_KEY.",
    code: "LOCAL_BACKEND_UNAVAILABLE",
    cause,
  });
}
