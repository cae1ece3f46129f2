import type { CoreV1Api, V1PodStatus } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import type { MachineConnection } from "../../src/runtime/container/channel/machine-connection.js";
import { KubernetesMachine } from "../../src/runtime/kubernetes/kubernetes-machine.js";
import { endingOf } from "../../src/runtime/kubernetes/pod-states.js";
import type { MachineSpec } from "../../src/runtime/sandbox-runtime.js";

/** What the server says of a sandbox whose Pod has ended with that status. */
async function endOf(status: V1PodStatus): Promise<string> {
  const api = { readNamespacedPod: async () => ({ status }) } as unknown as CoreV1Api;
  const connection = { lost: Promise.resolve("it has ended"), close: () => undefined };
  const machine = new KubernetesMachine({
    spec: { id: "1", limits: { memoryMb: 64, diskMb: 64, vcpu: 1, maxProcesses: 32 } } as MachineSpec,
    connection: connection as unknown as MachineConnection,
    isolation: "container",
    socketPath: "",
    keepsFiles: true,
    ending: () => endingOf({ api, namespace: "default" } as Parameters<typeof endingOf>[0], "pod"),
    remove: async () => undefined,
    cleanUp: () => undefined,
  });
  return (await machine.exited).message;
}

test("a Pod that its node evicts is a sandbox that has ended for the cluster's reason", async () => {
  const message = 'Usage of EmptyDir volume "tmp" exceeds the limit "512Mi". ';
  expect(await endOf({ phase: "Failed", reason: "Evicted", message })).toBe(
    'The cluster ended the sandbox\'s Pod (Evicted): Usage of EmptyDir volume "tmp" exceeds the limit "512Mi".',
  );
  expect(await endOf({ phase: "Failed", reason: "Shutdown" })).toBe(
    "The cluster ended the sandbox's Pod (Shutdown).",
  );
  expect(await endOf({ phase: "Failed" })).toMatch(/^The sandbox's Pod was lost: it has ended\./);
});
