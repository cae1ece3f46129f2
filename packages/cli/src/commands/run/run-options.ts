/** The options of `run`, as the command line gives them. */
export interface RunOptions {
  readonly code?: string;
  readonly language?: string;
  readonly timeout: number;
  readonly template?: string;
  readonly internet?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly savePlots?: string;
}
