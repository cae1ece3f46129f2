import type { Machine } from "../agent/machine.js";
import { metricsOf } from "../agent/report-handlers.js";
import type { MemoryFleet } from "./memory-fleet.js";

/** Seconds between two events. */
const interval = 1;

/**
 * Server-sent events with a sandbox's metrics, one per second, until the sandbox is stopped or gone. None while it is
 * paused.
 */
export function metricsEvents(fleet: MemoryFleet, id: string, signal: AbortSignal): AsyncGenerator<string> {
  return events(fleet, fleet.reachable(id), signal);
}

async function* events(fleet: MemoryFleet, machine: Machine, signal: AbortSignal): AsyncGenerator<string> {
  const ended = AbortSignal.any([signal, machine.gone]);
  const { getMetrics } = metricsOf(machine);
  while (!ended.aborted) {
    const isPaused = fleet.get(machine.sandboxId).status === "paused";
    yield isPaused ? ": paused\n\n" : `data: ${JSON.stringify(await getMetrics())}\n\n`;
    await machine.sleep(interval, ended).catch(() => undefined);
  }
}
