/** The control plane that a client calls, and what proves to it who calls. */
export interface Account {
  readonly baseUrl: URL;
  readonly apiKey: string | undefined;
  readonly bearerToken: string | undefined;
}
