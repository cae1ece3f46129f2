import { type AgentSchemas, webhookHeaders } from "@cloud-sandbox/protocol";
import type {
  BackgroundExecution,
  Deliveries,
  Delivery,
  DeliveryStatus,
  Outcome,
} from "@cloud-sandbox/server-kit/handlers";
import type { Fetch } from "../../transport/http/fetch-transport.js";
import type { TestingClock } from "./testing-clock.js";

type Callback = Pick<
  AgentSchemas["AsyncExecuteRequest"],
  "callback_url" | "callback_headers" | "callback_signature_secret"
>;

interface Report {
  delivery: Delivery;
  readonly callback: Callback;
  body: string;
}

/** Sends reports of asynchronous executions to their callback URLs, once each: failed deliveries are not retried. */
export class Reports implements Deliveries {
  readonly #reports = new Map<string, Report>();
  #count = 0;

  constructor(
    private readonly clock: TestingClock,
    private readonly send: Fetch,
  ) {}

  find(id: string): Delivery | undefined {
    return this.#reports.get(id)?.delivery;
  }

  list({
    sandboxId,
    status,
  }: {
    sandboxId: string | undefined;
    status: DeliveryStatus | undefined;
  }): Delivery[] {
    return [...this.#reports.values()]
      .map(({ delivery }) => delivery)
      .filter((delivery) => sandboxId === undefined || delivery.sandboxId === sandboxId)
      .filter((delivery) => status === undefined || delivery.status === status);
  }

  /** Registers an execution whose report is sent when it ends. */
  expect(
    sandboxId: string,
    execution: BackgroundExecution,
    ended: Promise<Outcome>,
    callback: Callback,
  ): void {
    this.#count += 1;
    const id = `whd_${this.clock.now().getTime()}${String(this.#count).padStart(8, "0")}`;
    const delivery: Delivery = {
      id,
      sandboxId,
      executionId: execution.id,
      callbackUrl: callback.callback_url,
      status: "waiting",
      createdAt: this.clock.now(),
      queuedAt: undefined,
      attempts: 0,
      nextAttemptAt: undefined,
      lastAttemptAt: undefined,
      responseStatus: undefined,
      error: undefined,
    };
    const report = { delivery, callback, body: "" };
    this.#reports.set(id, report);
    ended
      .then((outcome) => {
        report.body = JSON.stringify(payload(report.delivery, outcome, this.clock.now()));
        return this.redeliver(id);
      })
      // Record the report as failed: the test's handler threw. The error itself is reported by the program's own call.
      .catch(() => this.#change(report, { status: "failed", error: "The program did not end." }));
  }

  /** Sends a report, for the first time or again. */
  async redeliver(id: string): Promise<void> {
    const report = this.#reports.get(id);
    if (!report) return;
    const { attempts } = report.delivery;
    const now = this.clock.now();
    this.#change(report, { status: "pending", queuedAt: now, attempts: attempts + 1, lastAttemptAt: now });
    try {
      const { status, ok } = await this.send(await this.#request(report));
      this.#change(report, { status: ok ? "delivered" : "failed", responseStatus: status });
    } catch (error) {
      this.#change(report, {
        status: "failed",
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  async #request({ delivery, callback, body }: Report): Promise<Request> {
    const {
      callback_headers: callersHeaders,
      callback_signature_secret: secret,
      callback_url: url,
    } = callback;
    const headers = new Headers(callersHeaders ?? {});
    headers.set("content-type", "application/json");
    headers.set(webhookHeaders.timestamp, String(Math.floor(this.clock.now().getTime() / 1000)));
    headers.set(webhookHeaders.delivery, delivery.id);
    if (secret) headers.set(webhookHeaders.signature, await signature(body, secret));
    return new Request(url, { method: "POST", headers, body, redirect: "manual" });
  }

  #change(report: Report, fields: Partial<Delivery>): void {
    report.delivery = { ...report.delivery, ...fields };
  }
}

function payload({ executionId, sandboxId }: Delivery, outcome: Outcome, now: Date) {
  const { reason, exitCode, duration, stdout, stderr } = outcome;
  const success = exitCode === 0;
  return {
    execution_id: executionId,
    status: reason === "timeout" ? "timeout" : success ? "completed" : "failed",
    success,
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode,
    execution_time: duration,
    timestamp: now.toISOString(),
    sandbox_id: sandboxId,
    termination_reason: reason,
    stdout_truncated: false,
    stderr_truncated: false,
  };
}

const encoder = new TextEncoder();

async function signature(body: string, secret: string): Promise<string> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = new Uint8Array(await subtle.sign("HMAC", key, encoder.encode(body)));
  return `sha256=${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
