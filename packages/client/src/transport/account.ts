/** A control plane's address and the credentials for it. */
export interface Account {
  readonly baseUrl: URL;
  readonly apiKey: string | undefined;
  readonly bearerToken: string | undefined;
}
