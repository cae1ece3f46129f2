import { SandboxClient } from "cloud-sandbox";
import { TestingService } from "cloud-sandbox/testing";
import { FrameSocket } from "../../support/frame-socket.js";
import { suitePrograms } from "../suite-programs.js";
import type { Backend } from "./backend.js";

/** The service in memory as a backend. It runs nothing: suite-programs.ts says what each program of the suite does. */
export async function startTestingBackend(): Promise<Backend> {
  const service = new TestingService({ programs: suitePrograms });
  const client = new SandboxClient(service.clientOptions);
  return {
    client,
    url: service.baseUrl,
    apiKey: service.apiKey,
    languages: ["python", "javascript", "bash", "go"],
    fetch: (url, init) => service.fetch(url, init),
    openSocket: (url, token) => FrameSocket.over(service.webSocket(url, { headers: bearer(token) })),
    clientWith: (apiKey) => new SandboxClient({ ...service.clientOptions, apiKey }),
    close: () => client.close(),
  };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
