import type { EgressOptions } from "./egress/egress-options.js";
import type { KubernetesOptions } from "./runtime/runtime-options.js";
import type { IsolationLevel, MachineLimits } from "./runtime/sandbox-runtime.js";
import type { RuntimeName } from "./runtimes.js";
import type { WebhookOptions } from "./webhooks/webhook-options.js";

/** Options of `startLocalControlPlane`. */
export interface LocalControlPlaneOptions {
  /** The key that callers present. Default: a random one, in the result's `apiKey`. */
  readonly apiKey?: string;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Host names, besides loopback's, that callers may use when the server listens on loopback. Default: none. */
  readonly allowedHosts?: readonly string[];
  /**
   * Who may open what listens on ports of sandboxes: `public`, whoever knows an address, or `private`, whoever has a link that
   * `ports.previewUrl(port, { expiresInSeconds })` made. Default: `public`, as in the cloud.
   */
  readonly previews?: "public" | "private";
  /**
   * The address under which others reach this server through a proxy, as in `https://sandboxes.example`. Callers who use it get
   * addresses of sandboxes, previews and uploads that begin with it. Default: none.
   */
  readonly publicUrl?: string;
  /** Origins whose pages may call the server from a browser, for example `https://app.example`. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Port to listen on; 0 takes any free one. Default: 0. */
  readonly port?: number;
  /**
   * The runtime that isolates sandboxes. Default: CLOUD_SANDBOX_RUNTIME, else `auto`: docker if `dockerImage` is set, else
   * bubblewrap, and the other one if that does not work on this machine.
   */
  readonly runtime?: "auto" | RuntimeName;
  /**
   * The images of the docker runtime's sandboxes. Each is a template of its name, and the first is also that of the templates
   * `base` and `code-interpreter`. Default: CLOUD_SANDBOX_DOCKER_IMAGE, else `python:3.12-slim`.
   */
  readonly dockerImage?: string | readonly string[];
  /**
   * The runtime of the Docker daemon that starts the docker runtime's sandboxes, as `runsc` for gVisor. It is tried first: its
   * sandboxes have the isolation level `gvisor` only if gVisor's kernel answers inside. `auto` then takes docker or nothing.
   * Default: CLOUD_SANDBOX_DOCKER_RUNTIME, else the daemon's own default.
   */
  readonly dockerRuntime?: string;
  /** What the runtime `kubernetes` uses. Default: the cluster that `kubectl` uses, and `python:3.12-slim`. */
  readonly kubernetes?: KubernetesOptions;
  /**
   * Files with certificates, in PEM, of authorities that programs in sandboxes trust beside those that everybody trusts, and beside
   * those that this machine's programs trust: what was added to the system's, and what variables such as `NODE_EXTRA_CA_CERTS` and
   * `SSL_CERT_FILE` or settings of npm and pip name. Default: none.
   */
  readonly trustCa?: readonly string[];
  /**
   * A file with a key of 32 bytes, or their 64 hexadecimal digits, outside of the data directory and not readable by others. Values of
   * secrets, and the key of the egress proxy's authority, are sealed with it in the data directory, so that sandboxes have them after a
   * restart. Default: none; values are in memory alone.
   */
  readonly secretsKeyFile?: string;
  /**
   * A directory with files that the home directory of each sandbox, program and build begins with, such as `.npmrc`,
   * `.config/pip/pip.conf` and `.m2/settings.xml`: at most 50 files and 128 KiB. Code can read and change its copies. Files that a
   * template or a stopped sandbox has already are kept. Default: CLOUD_SANDBOX_HOME_FILES, else none.
   */
  readonly homeFiles?: string;
  /**
   * Warm machines kept booted for new sandboxes (about 45 MB each, most of it shared). With 0, no interpreters wait for one-shot
   * programs either (about 10 MB each). Default: CLOUD_SANDBOX_POOL, else 1.
   */
  readonly pool?: number;
  /** Most sandboxes at a time, paused ones and programs without a sandbox included, and failed ones as far as there are more of them than this. Beyond, a create or start is refused with 429, and a program waits. Default: one for each 32 MiB of memory, from 16 to 256. */
  readonly maxSandboxes?: number;
  /** Most stopped sandboxes of an API key at a time. Beyond, a stop is refused with 429. Default: 100. */
  readonly maxStopped?: number;
  /** Most snapshots of an API key. Beyond, the next is refused with 429. Default: 100. */
  readonly maxSnapshots?: number;
  /**
   * Seconds after which a sandbox that sleeps is deleted, if it was created or updated with an `on_timeout` other than `delete`.
   * Default: 604,800, a week.
   */
  readonly keepStoppedSeconds?: number;
  /**
   * All sandboxes together may use this many times the machine's memory, for memory and files. A create beyond it is refused
   * with 429. With 1, memory is never promised twice. Default: 4.
   */
  readonly memoryOvercommit?: number;
  /** Requests that a caller may send to the control plane in a minute; more are refused with 429. Default: 1,000,000. */
  readonly rateLimit?: number;
  /** What each sandbox may use. Default: 1024 MiB of memory, 1024 MiB of disk, 2 CPUs (or all there are), 256 processes. */
  readonly limits?: Partial<MachineLimits>;
  /** Seconds that the build of a template may take. Default: 1800. */
  readonly buildTimeoutSeconds?: number;
  /** Starts sandboxes even on a CPU for which there is no system call filter (other than x64 and arm64): their code can then make any system call. Default: false. */
  readonly withoutSystemCallFilter?: boolean;
  /**
   * Lets code be root in its sandbox, so that it can install packages and become other users. Needs the bubblewrap runtime,
   * root, and Linux 6.3 or newer. Default: false.
   */
  readonly rootInside?: boolean;
  /** The directory that keeps sandboxes across restarts. One control plane at a time may use it. Default: none, nothing is kept. */
  readonly dataDir?: string;
  /**
   * Directories of this machine that sandboxes may mount, and all below them. Only the server's own key may mount them. Needs
   * the bubblewrap runtime, or docker in a server that root started. Default: those of CLOUD_SANDBOX_ALLOW_MOUNT, separated by
   * colons, else none.
   */
  readonly allowMounts?: readonly string[];
  /**
   * Whether closing leaves sandboxes running, so that the next control plane with the same data directory goes on with them. Only
   * with the runtimes `docker` and `kubernetes`, where they wait for 60 seconds. Default: false, they are stopped.
   */
  readonly leaveRunning?: boolean;
  /**
   * The internet access of sandboxes whose create request does not set it: `on`, `off`, or `allow=` and destinations
   * separated by commas, as in `allow=pypi.org,*.pythonhosted.org:443`. Default: CLOUD_SANDBOX_INTERNET, else `on`.
   */
  readonly internet?: string;
  /** Which destinations sandboxes with internet access may reach, and through which proxy. */
  readonly egress?: EgressOptions;
  /** Whether `GET /metrics` gives measurements of the server for Prometheus, to the server's own key. Default: false. */
  readonly metrics?: boolean;
  /** The file to which is appended, as lines of JSON, who changed or ran what. At 64 MiB it is renamed to `FILE.1`. Default: none. */
  readonly auditLog?: string;
  /** How the ends of asynchronous executions are reported. Without a data directory, undelivered reports are lost on exit. */
  readonly webhooks?: WebhookOptions;
  /** Whether the control plane keeps this process running, as servers do. Default: true. If false, close it on `beforeExit`. */
  readonly holdsProcess?: boolean;
  /**
   * Gives up a start that waits for Pods, as when the network of a cluster is tried: they are removed, and the start rejects with the
   * signal's reason. Others take a moment, and are completed. Default: none.
   */
  readonly signal?: AbortSignal;
  /** Receives one line at a time for people to read; never a token or an environment value. Default: nothing is logged. */
  readonly log?: (message: string) => void;
}

/** A control plane that runs in this process. */
export interface LocalControlPlane {
  /** Base URL for clients, such as `http://127.0.0.1:39417`. */
  readonly url: string;
  readonly apiKey: string;
  /** The name of the runtime that isolates the sandboxes. */
  readonly runtime: string;
  readonly isolation: IsolationLevel;
  /** The internet access of sandboxes whose create request does not set it: `on`, `off`, or `allow=` with destinations. */
  readonly internet: string;
  /**
   * Stops listening and deletes every sandbox; with a data directory, stops them instead. Resolves when nothing runs.
   * @throws NotKeptError, once nothing runs, when something could not be kept in the data directory.
   */
  close(): Promise<void>;
}
