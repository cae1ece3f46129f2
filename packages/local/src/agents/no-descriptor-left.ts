import { Problem } from "@cloud-sandbox/server-kit";
import { openFilesAdvice } from "../runtime/host/open-files.js";

/** The problem when this process has no file descriptor for a connection to an agent. Nothing was sent, so clients may repeat the request. */
export const noDescriptorLeft = (cause: unknown): Problem =>
  new Problem(503, "SERVICE_UNAVAILABLE", "This server cannot open any more files now.", {
    hint: openFilesAdvice(),
    headers: { "retry-after": "1" },
    cause,
  });
