import { existsSync } from "node:fs";
import { type AuthorityFiles, authorityEnvironment } from "@cloud-sandbox/server-kit/execution";

/** The variables with which programs trust the host's own authorities, if the machine has their files. */
export function trustedAuthorities(files: AuthorityFiles | undefined): Record<string, string> {
  return files !== undefined && existsSync(files.own) ? authorityEnvironment(files) : {};
}
