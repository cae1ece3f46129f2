import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Values that are read when the metrics are requested. */
export interface MeasuredParts {
  /** The machines that wait to be claimed, by template. */
  readonly pools: () => ReadonlyMap<string, number>;
  readonly sandboxes: () => readonly { readonly status: string }[];
  /** Programs that wait for their turn. */
  readonly waiting: () => number;
  /** Requests that wait for a sandbox to start. */
  readonly waitingForStart: () => number;
  /** Programs that are started and wait for a caller. */
  readonly ready: () => number;
}

const bootBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const runBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/**
 * The server's own metrics, in Prometheus' text format. Labels contain no names of callers and nothing that code in a
 * sandbox wrote, so that their number is bounded.
 */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #boots = this.#histogram(
    "boot_seconds",
    "Starts of machines, by outcome.",
    ["outcome"],
    bootBuckets,
  );
  readonly #wakes = this.#histogram(
    "wake_seconds",
    "Starts of sandboxes that slept, for requests that wait, by outcome.",
    ["outcome"],
    bootBuckets,
  );
  readonly #sleeps = this.#counter("sleeps_total", "Sandboxes that were let sleep, by reason.", "reason");
  readonly #programs = this.#histogram(
    "program_seconds",
    "Programs that were run without a sandbox, from request to end, by outcome.",
    ["outcome"],
    runBuckets,
  );
  readonly #executions = this.#histogram(
    "execution_seconds",
    "Requests to run code or commands in sandboxes, by path and outcome.",
    ["path", "outcome"],
    runBuckets,
  );
  readonly #egress = this.#counter(
    "egress_connections_total",
    "Connections that sandboxes asked for.",
    "decision",
  );
  readonly #errors = this.#counter("errors_total", "Requests that the control plane refused.", "code");

  constructor(parts: MeasuredParts) {
    this.#gauge("pool_machines", "Machines that wait to be claimed.", "template", parts.pools);
    this.#gauge("sandboxes", "Sandboxes that exist.", "status", () => countByStatus(parts.sandboxes()));
    this.#gauge("programs_waiting", "Programs that wait for their turn.", undefined, () => parts.waiting());
    this.#gauge("wake_waiting", "Requests that wait for a sandbox to start.", undefined, () =>
      parts.waitingForStart(),
    );
    this.#gauge("programs_ready", "Programs that are started, for the next callers.", undefined, () =>
      parts.ready(),
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Measures work that boots a machine. */
  async boot<Result>(work: () => Promise<Result>): Promise<Result> {
    return measured(work, (seconds, isDone) =>
      this.#boots.observe({ outcome: isDone ? "booted" : "failed" }, seconds),
    );
  }

  /** Measures work that starts a sandbox that slept. */
  async wake(work: () => Promise<void>): Promise<void> {
    return measured(work, (seconds, isDone) =>
      this.#wakes.observe({ outcome: isDone ? "started" : "failed" }, seconds),
    );
  }

  /** Notes that a sandbox was let sleep: `idle` or `timeout`. */
  noteSleep(reason: string): void {
    this.#sleeps.inc({ reason });
  }

  /** Measures a program. */
  async program<Answer extends { readonly success?: boolean }>(run: () => Promise<Answer>): Promise<Answer> {
    return measured(run, (seconds, isDone, answer) => {
      const outcome = isDone ? (answer?.success === true ? "succeeded" : "failed") : "refused";
      this.#programs.observe({ outcome }, seconds);
    });
  }

  noteExecution(path: string, outcome: "answered" | "refused" | "cut", seconds: number): void {
    this.#executions.observe({ path, outcome }, seconds);
  }

  noteEgress(decision: "allowed" | "refused" | "failed" | "dropped"): void {
    this.#egress.inc({ decision });
  }

  noteError(code: string): void {
    this.#errors.inc({ code });
  }

  #histogram(name: string, help: string, labelNames: string[], buckets: number[]): Histogram {
    return new Histogram({ ...this.#described(name, help), labelNames, buckets });
  }

  #counter(name: string, help: string, label: string): Counter {
    return new Counter({ ...this.#described(name, help), labelNames: [label] });
  }

  #gauge(
    name: string,
    help: string,
    label: string | undefined,
    read: () => number | ReadonlyMap<string, number>,
  ): Gauge {
    return new Gauge({
      ...this.#described(name, help),
      labelNames: label === undefined ? [] : [label],
      collect() {
        this.reset();
        const value = read();
        if (typeof value === "number") this.set(value);
        else for (const [key, count] of value) this.set({ [label ?? ""]: key }, count);
      },
    });
  }

  #described(name: string, help: string) {
    return { name: `cloud_sandbox_${name}`, help, registers: [this.#registry] };
  }
}

const statuses = ["creating", "running", "paused", "stopped", "error"];

function countByStatus(sandboxes: readonly { readonly status: string }[]): ReadonlyMap<string, number> {
  const counts = new Map(statuses.map((status) => [status, 0]));
  for (const { status } of sandboxes) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

async function measured<Result>(
  work: () => Promise<Result>,
  note: (seconds: number, isDone: boolean, result?: Result) => void,
): Promise<Result> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  try {
    const result = await work();
    note(seconds(), true, result);
    return result;
  } catch (error) {
    note(seconds(), false);
    throw error;
  }
}
