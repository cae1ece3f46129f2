import {
  CoordinationV1Api,
  CoreV1Api,
  createConfiguration,
  ServerConfiguration,
} from "@kubernetes/client-node";
import { type Cluster, reasonOf } from "../runtime/kubernetes/cluster.js";

/** Milliseconds after which a request to the API server is given up. */
export const requestLimitMs = 4000;

/** The API server, for requests that end in time. */
export interface ClusterApi {
  readonly core: CoreV1Api;
  readonly coordination: CoordinationV1Api;
  readonly namespace: string;
}

export function clusterApi({ config, namespace }: Cluster): ClusterApi {
  const limited = createConfiguration({
    baseServer: new ServerConfiguration(config.getCurrentCluster()?.server ?? "", {}),
    authMethods: { default: config },
    promiseMiddleware: [
      {
        pre: async (request) => {
          request.setSignal(AbortSignal.timeout(requestLimitMs));
          return request;
        },
        post: async (response) => response,
      },
    ],
  });
  return { core: new CoreV1Api(limited), coordination: new CoordinationV1Api(limited), namespace };
}

/** Returns the API server's message, or why it did not answer, as the part of a sentence. */
export function apiReason(error: unknown): string {
  if (error instanceof Error && error.name === "AbortError")
    return `the API server did not answer within ${requestLimitMs / 1000} s`;
  return reasonOf(error).replace(/\.$/, "");
}
