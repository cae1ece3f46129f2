/** Values that a server chooses once and keeps: the API key and the key that signs tokens. */
export interface Settings {
  /** The value of that name. If there is none, `choose` makes it and it is saved. */
  once(name: string, choose: () => string | Promise<string>): Promise<string>;
}
