import { readFileSync } from "node:fs";
import {
  ApiException,
  type Configuration,
  CoreV1Api,
  createConfiguration,
  KubeConfig,
  ServerConfiguration,
  type V1Status,
} from "@kubernetes/client-node";

/** Options that name the cluster of sandboxes. */
export interface ClusterOptions {
  /** Path of a kubeconfig. Default: what `kubectl` takes (`KUBECONFIG`, `~/.kube/config`), or the Pod that this process runs in. */
  readonly kubeconfig?: string | undefined;
  /** Namespace of the Pods. Default: that of the kubeconfig's context, or of this process's Pod; else `default`. */
  readonly namespace?: string | undefined;
}

/** A Kubernetes cluster, and the namespace in it that sandboxes are in. */
export interface Cluster {
  readonly config: KubeConfig;
  readonly api: CoreV1Api;
  readonly namespace: string;
  /** Whether this process runs in the cluster, and reaches Pods at their addresses. */
  readonly isInside: boolean;
}

/** Milliseconds after which a request to the API server is given up. Webhooks of the cluster have 10 s to admit a Pod unless told otherwise. */
const requestLimitMs = 20_000;
const ownNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** Reads how to reach the cluster. Asks it nothing. Throws an error that says what is wrong with the kubeconfig. */
export function openCluster({ kubeconfig, namespace }: ClusterOptions): Cluster {
  const config = loadedConfig(kubeconfig);
  // Without any configuration, the library takes a made-up cluster on this machine, and fails later with an error about TLS.
  if (kubeconfig === undefined && config.getCurrentContext() === "loaded-context")
    throw new Error("there is no kubeconfig, and this program does not run in a cluster");
  if (!config.getCurrentCluster())
    throw new Error(
      `the kubeconfig's current-context ("${config.getCurrentContext() ?? ""}") is none of its contexts, or names a cluster that it does not have`,
    );
  const isInside = config.getCurrentContext() === "inClusterContext";
  const ofContext = namespace ?? config.getContextObject(config.getCurrentContext())?.namespace;
  return {
    config,
    isInside,
    api: apiClient(config, CoreV1Api),
    namespace: ofContext ?? (isInside ? readFileSync(ownNamespaceFile, "utf8").trim() : "default"),
  };
}

function loadedConfig(path: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
  } catch (error) {
    const reason = error instanceof TypeError ? "it is empty, or not of that form" : reasonOf(error);
    throw new Error(`the kubeconfig ${path ?? "of kubectl"} cannot be read: ${reason}`, { cause: error });
  }
  return config;
}

/** A client of a part of the API. Its requests are given up after `limitMs`: an API server that is stopped or cut off answers none. */
export function apiClient<Api>(
  config: KubeConfig,
  Part: new (configuration: Configuration) => Api,
  limitMs = requestLimitMs,
): Api {
  const configuration = createConfiguration({
    baseServer: new ServerConfiguration(config.getCurrentCluster()?.server ?? "", {}),
    authMethods: { default: config },
    promiseMiddleware: [
      {
        pre: async (request) => {
          request.setSignal(AbortSignal.timeout(limitMs));
          return request;
        },
        post: async (response) => response,
      },
    ],
  });
  return new Part(configuration);
}

/** The cluster, as it is, cannot be used, and `fix` says what can be done. */
export class UnusableClusterError extends Error {
  constructor(
    reason: string,
    readonly fix: string,
  ) {
    super(reason);
  }
}

/** Whether the API server said that a quota has no room, or that it is so new that the cluster has not counted yet. */
export const isOfQuota = (reason: string): boolean => /(exceeded|status unknown for) quota/.test(reason);

/** The HTTP status with which the API server refused a request; undefined for another error. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof ApiException ? error.code : undefined;

/** Returns the API server's message, or why it did not answer. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiException) {
    const body = typeof error.body === "string" ? parsed(error.body) : (error.body as V1Status);
    return body?.message ?? `the API server answered ${error.code}`;
  }
  if (error instanceof Error && error.name === "AbortError") return "the API server did not answer in time";
  return error instanceof Error ? error.message : String(error);
}

function parsed(text: string): V1Status | undefined {
  try {
    return JSON.parse(text) as V1Status;
  } catch {
    return undefined;
  }
}
