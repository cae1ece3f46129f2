/** The embedded control plane: the one place that knows of `cloud-sandbox-local` (docs/decisions/0031-a-client-without-a-key.md). */

import { ConfigurationError, clientClosed } from "../errors/errors.js";
import type { Account } from "../transport/account.js";
import type { LocalBackendOptions, StartedBackend } from "./client-options.js";

/** What is used of the package. Its types are not: who has no need of it need not have it to compile. */
interface LocalPackage {
  startLocalControlPlane(options: LocalBackendOptions & { holdsProcess: boolean }): Promise<ControlPlane>;
}

interface ControlPlane extends StartedBackend {
  readonly apiKey: string;
  close(): Promise<void>;
}

/** Not where it is imported: bundlers would look for a package that is not there, or pack one whose files must stay beside it. */
const packageName = "cloud-sandbox-local";

/** A control plane in this process, started with the first call, ended with the client or when the process has nothing to do. */
export class LocalBackend {
  #opening: Promise<ControlPlane> | undefined;
  #isClosed = false;

  constructor(private readonly options: LocalBackendOptions | undefined) {}

  /** Calls at once start one; after a failure the next call tries again. */
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
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause;
    throw new ConfigurationError({
      summary: `There is no API key, and ${packageName} is not installed. Take one of these lines:`,
      hint: `\n  npm install ${packageName}        # sandboxes on this machine (Linux)\n  export CLOUD_SANDBOX_API_KEY=...       # sandboxes in the cloud`,
      code: "LOCAL_BACKEND_MISSING",
      cause,
    });
  }
}

/** Its errors are written for people, with the command that mends what is missing. */
function refuse(cause: unknown): never {
  throw new ConfigurationError({
    summary: cause instanceof Error ? cause.message : "The local backend did not start.",
    hint: "To use the cloud, set CLOUD_SANDBOX_API_KEY.",
    code: "LOCAL_BACKEND_UNAVAILABLE",
    cause,
  });
}
