/** A mount of a host path, read-only, where the machine sees it. */
export interface Mount {
  readonly source: string;
  readonly target: string;
}
