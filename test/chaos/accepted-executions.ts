import { setTimeout as sleep } from "node:timers/promises";
import { answering, WebhookReceiver } from "../support/webhook-receiver.js";
import { type AgentAddress, agentCall } from "./api.js";
import type { Tally } from "./tally.js";

/** The receiver refuses one of so many reports, which the server must then send again. */
const refusedEvery = 5;
/** Enough time for a report that was refused twice. */
const reportLimitMs = 60_000;

interface Accepted {
  readonly id: string;
  /** The text that the program prints before it ends. Undefined for a program that runs until its machine ends. */
  readonly prints: string | undefined;
}

/** The asynchronous executions that the server has accepted. It must report the end of each to the receiver. */
export class AcceptedExecutions implements AsyncDisposable {
  readonly #accepted: Accepted[] = [];

  private constructor(private readonly receiver: WebhookReceiver) {}

  static async open(): Promise<AcceptedExecutions> {
    const receiver = await WebhookReceiver.start((response, attempt) =>
      answering(isConfirmed(attempt) ? 200 : 503)(response, attempt),
    );
    return new AcceptedExecutions(receiver);
  }

  async start(tally: Tally, sandbox: AgentAddress, prints: string | undefined): Promise<void> {
    const code = prints === undefined ? "sleep 600" : `echo ${prints}`;
    const body = { code, language: "bash", timeout: 600, callback_url: this.receiver.url };
    const answer = await tally.ask("async execution", () =>
      agentCall(sandbox, "POST", "/execute/async", body),
    );
    if (answer) this.#accepted.push({ id: String(answer.body.execution_id), prints });
  }

  get count(): number {
    return this.#accepted.length;
  }

  /** Waits until all reports should have arrived, and lists what is wrong about them. */
  async contradictions(): Promise<string[]> {
    const until = Date.now() + reportLimitMs;
    while (this.#unreported().length > 0 && Date.now() < until) await sleep(20);
    const reports = this.#reports();
    return [
      ...this.#unreported().map(({ id }) => `${id} was accepted and never reported`),
      ...this.#accepted.flatMap((execution) => wrongReports(execution, reports.get(execution.id) ?? [])),
    ];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.receiver[Symbol.asyncDispose]();
  }

  #unreported(): Accepted[] {
    const reports = this.#reports();
    return this.#accepted.filter(({ id }) => !reports.has(id));
  }

  /** Those that were confirmed, by execution. */
  #reports(): Map<string, string[]> {
    const confirmed = this.receiver.received.filter((_, index) => isConfirmed(index + 1));
    const reports = new Map<string, string[]>();
    for (const { body } of confirmed) {
      const { execution_id: id } = JSON.parse(body) as { execution_id: string };
      reports.set(id, [...(reports.get(id) ?? []), body]);
    }
    return reports;
  }
}

const isConfirmed = (attempt: number): boolean => attempt % refusedEvery !== 0;

interface Report {
  readonly status: string;
  readonly stdout: string;
  readonly error?: string;
  readonly termination_reason?: string;
}

function wrongReports({ id, prints }: Accepted, bodies: readonly string[]): string[] {
  const reports = bodies.map((body) => JSON.parse(body) as Report);
  const isRight = ({ status, stdout, error, termination_reason }: Report): boolean =>
    status === "completed"
      ? stdout === `${prints}\n`
      : status === "failed" && Boolean(error || termination_reason === "signal");
  return [
    ...(new Set(bodies).size > 1 ? [`${id} was reported in two ways: ${bodies.join(" ")}`] : []),
    ...reports.filter((report) => !isRight(report)).map((report) => `${id}: ${JSON.stringify(report)}`),
  ];
}
