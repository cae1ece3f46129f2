/** A sandbox as a tool's result, under the wire's names; never with its token. */
import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { wireNames } from "./answer.js";

export const sandboxOutput = z.looseObject({
  id: z.string(),
  status: z.string(),
  template_name: z.string().optional(),
  direct_url: z.string().optional(),
  isolation: z.string().optional(),
  expires_at: z.string().optional(),
});

export function sandboxResult(sandbox: Sandbox): z.input<typeof sandboxOutput> {
  const { id, status, template: templateName, publicHost, metadata: _, ...facts } = sandbox.toJSON();
  return { id, status, ...wireNames({ templateName, directUrl: publicHost, publicHost, ...facts }) };
}

/** The fields of a sandbox in a list. get_sandbox returns the rest. */
export function sandboxSummary(sandbox: Sandbox): z.input<typeof sandboxOutput> {
  const { resources: _, timeout_seconds: __, public_host: ___, ...summary } = sandboxResult(sandbox);
  return summary;
}
