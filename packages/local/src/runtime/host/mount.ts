/** A read-only mount of the host path `source` at `target` in the machine. */
export interface Mount {
  readonly source: string;
  readonly target: string;
}
