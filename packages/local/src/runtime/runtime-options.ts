import type { HomeFiles } from "./host/home-files.js";
import type { IsolationLevel } from "./sandbox-runtime.js";

/** The kinds of objects that a sandbox can be in a cluster. */
export const kubernetesSandboxes = ["pods", "agent-sandbox"] as const;
export type KubernetesSandboxes = (typeof kubernetesSandboxes)[number];

/** Which nodes the Pods of sandboxes may be on, and what goes before them when the cluster is full. As in a Pod's specification. */
export interface PodPlacement {
  /** Labels that a node must have. Default: none. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Taints of nodes that keep the Pods away no longer. Default: none. */
  readonly tolerations?: readonly PodToleration[];
  /** A PriorityClass of the cluster. Default: the cluster's own. */
  readonly priorityClassName?: string;
}

/** A taint of nodes that a Pod tolerates. */
export interface PodToleration {
  /** Key of the taint. Default: any, with the operator `Exists`. */
  readonly key?: string;
  /** Default: `Equal`. */
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  /** Default: any. */
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  /** With the effect `NoExecute`: seconds that a Pod stays on a node that gets the taint. Default: forever. */
  readonly tolerationSeconds?: number;
}

/** Where the Pods of sandboxes are placed. */
export interface SandboxPlacement extends PodPlacement {
  /**
   * By template, what is different for it: each field that is set here takes the place of the one for all. `base` and
   * `code-interpreter` have what is set for the first image, unless something is set for them.
   */
  readonly templates?: Readonly<Record<string, PodPlacement>>;
}

/** Most seconds that a Pod may be given to start: Pods that have not started for longer are taken for those of servers that were killed. */
export const longestStartSeconds = 540;

/** How the kubernetes runtime reaches its cluster, and what its Pods are made of. */
export interface KubernetesOptions {
  /** Path of a kubeconfig. Default: that of `kubectl` (KUBECONFIG, else `~/.kube/config`), or the Pod that this process runs in. */
  readonly kubeconfig?: string | undefined;
  /** Namespace of the Pods. Default: that of the kubeconfig's context, or of the Pod that this process runs in; else `default`. */
  readonly namespace?: string | undefined;
  /** The images of sandboxes, each a template; the first is the default template. Default: `python:3.12-slim`. */
  readonly images?: readonly string[] | undefined;
  /** The image with the agent. Default: `cloud-sandbox-agent:latest`. */
  readonly agentImage?: string | undefined;
  /**
   * What a sandbox is in the cluster: a Pod that this process makes, or a Sandbox of the API `agents.x-k8s.io`, whose controller
   * makes the Pod. Default: `pods`.
   */
  readonly sandboxes?: KubernetesSandboxes | undefined;
  /**
   * Whether sandboxes are started although nothing keeps their code from the cluster's network. Their internet access then has no
   * limits. Default: no.
   */
  readonly openNetwork?: boolean | undefined;
  /**
   * Whether records and keys are kept in objects of the cluster instead of in a data directory. Any number of servers with the
   * same namespace then act as one: one of them leads, the others pass callers on to it, and another one leads when it ends.
   * Default: no.
   */
  readonly records?: boolean | undefined;
  /**
   * The RuntimeClass of the Pods, and the isolation level that sandboxes then report, which is not checked. Default: the
   * cluster's default class, `container`.
   */
  readonly runtimeClass?: { readonly name: string; readonly level: IsolationLevel } | undefined;
  /** Which nodes the Pods of sandboxes may be on. Default: all that the cluster allows. */
  readonly placement?: SandboxPlacement | undefined;
  /** Seconds that a Pod may take until its agent answers, with the download of its images, at most 540. Default: 120. */
  readonly startTimeoutSeconds?: number | undefined;
}

/** How this process uses a runtime. */
export interface RuntimeOptions {
  /** Whether machines may be started on a CPU that there is no system call filter for. Default: no. */
  readonly withoutSystemCallFilter?: boolean;
  /** Whether code is root inside its machine. Only bubblewrap has this, and only when root started this process. Default: no. */
  readonly rootInside?: boolean;
  /** Whether machines that run keep this process from ending. Default: yes. */
  readonly holdsProcess?: boolean;
  /** The images of the docker runtime's machines; the first is the default. Default: `python:3.12-slim`. */
  readonly dockerImages?: readonly string[] | undefined;
  /** The runtime of the Docker daemon that starts the docker runtime's machines, as `runsc`. Default: the daemon's own default. */
  readonly dockerRuntime?: string | undefined;
  /** What the kubernetes runtime uses; see {@link KubernetesOptions}. */
  readonly kubernetes?: KubernetesOptions | undefined;
  /** Certificates, in PEM, of authorities that programs in machines trust beside their own. Default: none. */
  readonly authorities?: string | undefined;
  /** Files that each home directory begins with. Default: none. */
  readonly homeFiles?: HomeFiles | undefined;
  /** Gives up a trial that takes long. What was made for it is removed. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Whether this process may start, reach and end machines now. False while another one may have them. Default: always. */
  readonly mayAct?: (() => boolean) | undefined;
  /** Receives lines for people to read. Default: nothing is logged. */
  readonly log?: ((message: string) => void) | undefined;
}
