import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import { type HttpHandler, http } from "msw";
import { createOpenApiHttp } from "openapi-msw";
import type { TestingService } from "./testing-service.js";

/** The part of a `TestingService` used here. */
type Service = Pick<TestingService, "baseUrl" | "fetch">;

/** Handlers for `setupServer` or `setupWorker` of msw: the service answers every request sent to its address. */
export function serviceHandlers(service: Service): HttpHandler[] {
  return [http.all(`${service.baseUrl}/*`, ({ request }) => service.fetch(request))];
}

/**
 * msw's `http`, typed by the control plane's API: paths, parameters, bodies and answers. Put its handlers before {@link
 * serviceHandlers}, or into `server.use`, to replace the answer of one operation.
 */
export const controlPlaneHttp = ({ baseUrl }: Service) => createOpenApiHttp<ControlPlanePaths>({ baseUrl });

/** msw's `http`, typed by the agent's API. Its handlers match the agents of all sandboxes. */
export const agentHttp = ({ baseUrl }: Service) =>
  createOpenApiHttp<AgentPaths>({ baseUrl: `${baseUrl}/agent/:sandboxId` });
