/**
 * The parts of a sandbox (files, terminal, metrics, …). Each part's code is loaded on first use, to keep startup fast.
 */
import type { AgentAccess } from "../agent/agent-access.js";
import type { Desktop } from "../desktop/desktop.js";
import type { Commands } from "../execution/commands.js";
import type { PythonPackages } from "../execution/python-packages.js";
import type { Files } from "../files/files.js";
import type { EnvironmentVariables } from "../machine/environment-variables.js";
import type { Metrics } from "../machine/metrics.js";
import type { System } from "../machine/system.js";
import type { Terminals } from "../streams/terminal.js";
import type { PaginatedList } from "../transport/answers/paginated-list.js";
import type { ControlPlaneClient } from "../transport/contract-clients.js";
import { call, deferred, each, later, type Members } from "../transport/deferred.js";
import type { listSandboxes } from "./sandbox-list.js";

export function filesOf(access: AgentAccess, commands: Commands, requestTimeout: number): Files {
  return deferred(
    async () => (await import("../files/files.js")).Files.of(access, commands, requestTimeout),
    {
      readText: call,
      readBytes: call,
      write: call,
      list: call,
      watch: { gives: { ...stream, ready: call } },
      walk: each,
      stat: call,
      rename: call,
      upload: call,
      download: call,
      uploadDirectory: call,
      downloadDirectory: call,
      exists: call,
      remove: call,
      mkdir: call,
    },
  );
}

export function environmentOf(access: AgentAccess): EnvironmentVariables {
  const load = async () =>
    (await import("../machine/environment-variables.js")).EnvironmentVariables.of(access);
  return deferred(load, {
    get: call,
    effective: call,
    names: call,
    set: call,
    merge: call,
    replace: call,
    unset: call,
    clear: call,
  });
}

export function pythonPackagesOf(commands: Commands): PythonPackages {
  const load = async () => (await import("../execution/python-packages.js")).PythonPackages.of(commands);
  return deferred(load, { install: call });
}

export function terminalsOf(access: AgentAccess): Terminals {
  return deferred(async () => (await import("../streams/terminal.js")).Terminals.of(access), { open: call });
}

export function metricsOf(access: AgentAccess, controlPlane: ControlPlaneClient): Metrics {
  const load = async () => (await import("../machine/metrics.js")).Metrics.of(access, controlPlane);
  return deferred(load, { snapshot: call, stream: each, prometheus: call });
}

export function systemOf(access: AgentAccess): System {
  return deferred(async () => (await import("../machine/system.js")).System.of(access), {
    health: call,
    info: call,
    machine: call,
    processes: call,
    sessions: call,
    cacheStatistics: call,
    clearCache: call,
  });
}

export function desktopOf(access: AgentAccess): Desktop {
  return deferred(async () => (await import("../desktop/desktop.js")).Desktop.of(access), {
    mouse: { has: { click: call, move: call, drag: call, dragAndDrop: call, scroll: call } },
    keyboard: { has: { type: call, press: call, combination: call, hotkey: call } },
    windows: { has: { list: call, focus: call, close: call, resize: call, minimize: call, capture: call } },
    vnc: { has: { start: call, stop: call, status: call } },
    recording: { has: { start: call, stop: call, status: call, download: call } },
    text: { has: { read: call, find: call, waitFor: call, bounds: call } },
    screenshot: call,
    display: call,
    resolutions: call,
    setResolution: call,
    clipboard: call,
    setClipboard: call,
    clipboardHistory: call,
    logs: call,
    processes: call,
  });
}

const stream = { [Symbol.asyncIterator]: each, close: later, [Symbol.asyncDispose]: call } as const;

const list = { [Symbol.asyncIterator]: each, pages: each } satisfies Members<PaginatedList<unknown>>;

export function sandboxListOf<Item>(...given: Parameters<typeof listSandboxes<Item>>): PaginatedList<Item> {
  return deferred(async () => (await import("./sandbox-list.js")).listSandboxes(...given), list);
}
