import { CoordinationV1Api, CoreV1Api } from "@kubernetes/client-node";
import { apiClient, type Cluster, reasonOf } from "../runtime/kubernetes/cluster.js";

/** Milliseconds after which a request to the API server is given up. */
const requestLimitMs = 4000;

/** The API server, for requests that end in time. */
export interface ClusterApi {
  readonly core: CoreV1Api;
  readonly coordination: CoordinationV1Api;
  readonly namespace: string;
}

export const clusterApi = ({ config, namespace }: Cluster): ClusterApi => ({
  core: apiClient(config, CoreV1Api, requestLimitMs),
  coordination: apiClient(config, CoordinationV1Api, requestLimitMs),
  namespace,
});

/** Returns the API server's message, or why it did not answer, as the part of a sentence. */
export const apiReason = (error: unknown): string => reasonOf(error).replace(/\.$/, "");
