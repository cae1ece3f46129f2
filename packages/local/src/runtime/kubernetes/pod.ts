import type { V1Container, V1Pod, V1SecurityContext, V1Volume } from "@kubernetes/client-node";
import { type Listening, listeningVariable } from "../container/channel/channel-protocol.js";
import { codeUid, inside, opt } from "../container/paths.js";
import type { PodPlacement, SandboxPlacement } from "../runtime-options.js";
import { type MachineLimits, mostMemoryMb } from "../sandbox-runtime.js";

/** A Pod's files take up to twice the disk's size: once for `/workspace`, and half of it each for `/tmp` and the home directory. */
export const diskCount = 2;
/** The port of a Pod's supervisor. */
export const channelPort = 7777;
export const ownLabel = { "app.kubernetes.io/managed-by": "cloud-sandbox" } as const;
/** Says which process made a Pod. */
export const serverLabel = "cloud-sandbox.dev/server";
export const containerName = "sandbox";

/** Memory of the supervisor, in MiB, which the sandbox does not pay for. */
const supervisorMb = 96;
/** The Pod requests its memory limit divided by this number, because most sandboxes use less than they may. */
const usualShare = 4;

export interface PodParts {
  readonly name: string;
  /** Names this process. */
  readonly server: string;
  /** The image that the sandbox sees. */
  readonly image: string;
  /** The image with the agent; see `agent-image.ts`. If it is `image` itself, nothing is copied. */
  readonly agentImage: string;
  readonly limits: MachineLimits;
  readonly runtimeClass: string | undefined;
  readonly placement: PodPlacement;
  /** SHA-256 of the secret that opens the supervisor's port, in hexadecimal. */
  readonly secretHash: string;
  /** Milliseconds that the Pod waits for its server. */
  readonly waitMs: number;
  readonly command: readonly string[];
}

/** The placement of the Pods of a template that is started from `image`. */
export function placementOf(
  { templates = {}, ...all }: SandboxPlacement,
  template: string,
  image: string,
): PodPlacement {
  return { ...all, ...(templates[template] ?? templates[image]) };
}

/**
 * The isolation: no rights in the cluster, one user without any capability, no new privileges, the system calls that the
 * container runtime allows by default, a read-only root, files of a limited size, and no name server. It fulfils the Pod
 * Security Standard `restricted`.
 */
export function sandboxPod({ name, server, image, agentImage, limits, ...parts }: PodParts): V1Pod {
  const securityContext: V1SecurityContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  const { nodeSelector, tolerations, priorityClassName } = parts.placement;
  const memoryMb = Math.ceil(mostMemoryMb(limits, diskCount)) + supervisorMb;
  const agent = agentImage === image ? undefined : copiedAgent(agentImage, securityContext);
  const channel: Listening = { at: channelPort, hash: parts.secretHash, waitMs: parts.waitMs };
  return {
    metadata: { name, labels: { ...ownLabel, [serverLabel]: server } },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostname: "sandbox",
      // Its only egress is the channel, through which names are resolved too.
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["127.0.0.1"] },
      ...(parts.runtimeClass !== undefined && { runtimeClassName: parts.runtimeClass }),
      ...(nodeSelector && { nodeSelector: { ...nodeSelector } }),
      ...(tolerations && { tolerations: [...tolerations] }),
      ...(priorityClassName !== undefined && { priorityClassName }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: codeUid,
        runAsGroup: codeUid,
        fsGroup: codeUid,
        seccompProfile: { type: "RuntimeDefault" },
      },
      ...(agent && { initContainers: [agent.container] }),
      containers: [
        {
          name: containerName,
          image,
          imagePullPolicy: "IfNotPresent",
          command: [...parts.command],
          workingDir: "/",
          env: [
            { name: listeningVariable, value: JSON.stringify(channel) },
            { name: "HOME", value: inside.home },
            { name: "USER", value: "sandbox" },
            { name: "LOGNAME", value: "sandbox" },
            { name: "SHELL", value: "/bin/bash" },
            { name: "TERM", value: "xterm-256color" },
            { name: "PIP_BREAK_SYSTEM_PACKAGES", value: "1" },
            { name: "NPM_CONFIG_PREFIX", value: `${inside.home}/.local` },
          ],
          securityContext,
          resources: {
            limits: { cpu: String(limits.vcpu), memory: `${memoryMb}Mi` },
            requests: { cpu: "50m", memory: `${Math.ceil(memoryMb / usualShare)}Mi` },
          },
          volumeMounts: [
            ...(agent?.mounts ?? []),
            { name: "run", mountPath: inside.run },
            { name: "workspace", mountPath: "/workspace" },
            { name: "tmp", mountPath: "/tmp" },
            { name: "home", mountPath: inside.home },
          ],
        },
      ],
      volumes: [
        ...(agent ? [agent.volume] : []),
        inMemory("run", 1),
        inMemory("workspace", limits.diskMb),
        inMemory("tmp", limits.diskMb / 2),
        inMemory("home", limits.diskMb / 2),
      ],
    },
  };
}

/** A container that copies the agent into a volume before the sandbox's starts, and what the sandbox's sees of it. */
function copiedAgent(image: string, securityContext: V1SecurityContext) {
  const mount = { name: "agent", readOnly: true };
  const container: V1Container = {
    name: "agent",
    image,
    imagePullPolicy: "IfNotPresent",
    command: [...copying, `${opt}/.`, "/agent"],
    securityContext,
    resources: { limits: { cpu: "1", memory: "512Mi" }, requests: { cpu: "10m", memory: "64Mi" } },
    volumeMounts: [{ name: "agent", mountPath: "/agent" }],
  };
  return {
    container,
    mounts: [
      { ...mount, mountPath: opt },
      { ...mount, mountPath: "/etc/passwd", subPath: "etc/passwd" },
      { ...mount, mountPath: "/etc/group", subPath: "etc/group" },
    ],
    volume: { name: "agent", emptyDir: {} },
  };
}

const withLibraries = [`${opt}/loader`, "--library-path", `${opt}/lib`] as const;
/** The agent's Node.js, with its own loader and libraries. */
export const loading = [...withLibraries, `${opt}/bin/node`] as const;
const copying = [...withLibraries, `${opt}/bin/cp`, "-PR"] as const;

const inMemory = (name: string, megabytes: number): V1Volume => ({
  name,
  emptyDir: { medium: "Memory", sizeLimit: `${Math.ceil(megabytes)}Mi` },
});
