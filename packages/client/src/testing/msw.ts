import type { AgentPaths, ControlPlanePaths } from "@cloud-sandbox/protocol";
import { type HttpHandler, http } from "msw";
import { createOpenApiHttp } from "openapi-msw";
import type { TestingService } from "./testing-service.js";

/** What is read of a service. */
type Service = Pick<TestingService, "baseUrl" | "fetch">;

/** For `setupServer` or `setupWorker` of msw: all that is sent to the service's address is answered by the service. */
export function serviceHandlers(service: Service): HttpHandler[] {
  return [http.all(`${service.baseUrl}/*`, ({ request }) => service.fetch(request))];
}

/**
 * msw's `http` for the control plane's contract: paths, parameters, bodies and answers are typed by it. What it gives goes
 * before {@link serviceHandlers}, or into `server.use`, to answer one operation otherwise.
 */
export const controlPlaneHttp = ({ baseUrl }: Service) => createOpenApiHttp<ControlPlanePaths>({ baseUrl });

/** The same for the agent's contract; it answers for the agents of all sandboxes. */
export const agentHttp = ({ baseUrl }: Service) =>
  createOpenApiHttp<AgentPaths>({ baseUrl: `${baseUrl}/agent/:sandboxId` });
