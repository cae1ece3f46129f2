import { ownAuthorities } from "./own-authorities.js";

/** What `doctor` reports about authorities of certificates that are not everybody's. */
export interface AuthoritiesReport {
  /** What names such authorities, each with the number of certificates. Programs in sandboxes trust them too. */
  readonly own: readonly string[];
  /** What names a file without authorities, and programs that would fail although there are such authorities. */
  readonly notes: readonly string[];
}

/**
 * `trusted`: the files of `--trust-ca`.
 *
 * @throws InvalidAuthorityError when one of them has no certificate.
 */
export function examineAuthorities(
  trusted: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): AuthoritiesReport {
  const { sources, problems } = ownAuthorities(trusted, env);
  const failing =
    "Programs with authorities built in do not trust them, nor does Java in containers: give those a setting of their own.";
  return { own: sources, notes: [...problems, ...(sources.length > 0 ? [failing] : [])] };
}

/** The report as lines for people. */
export function describeAuthorities({ own, notes }: AuthoritiesReport): string[] {
  const which = own.length === 0 ? "none; --trust-ca adds one" : own.join(", ");
  return [
    `Authorities of certificates that sandboxes trust beside everybody's: ${which}`,
    ...notes.map((note) => `  ! ${note}`),
  ];
}
