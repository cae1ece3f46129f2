import type { ControlPlanePaths } from "@cloud-sandbox/protocol";
import type { Client } from "openapi-fetch";
import type { Account } from "./account.js";
import type { ChannelOptions, Credentials } from "./channel.js";
import { openapiClient } from "./openapi-client.js";

/** Channel options that do not depend on the server. */
export type AccountChannelOptions = Omit<ChannelOptions, "baseUrl" | "credentials" | "plane">;

/** Creates the client for an account's control plane. */
export function accountClient(
  shared: AccountChannelOptions,
  account: Account,
): Promise<Client<ControlPlanePaths>> {
  const { baseUrl } = account;
  return openapiClient({ ...shared, baseUrl, plane: "control plane", credentials: credentialsOf(account) });
}

function credentialsOf({ apiKey, bearerToken }: Account): Credentials {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) headers["x-api-key"] = apiKey;
  if (bearerToken !== undefined) headers.authorization = `Bearer ${bearerToken}`;
  const secrets = [apiKey, bearerToken].filter((secret) => secret !== undefined);
  return { headers: () => headers, secrets: () => secrets };
}
