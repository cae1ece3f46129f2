import { ownAuthorities } from "./own-authorities.js";

/** The report of `doctor` about certificate authorities that this machine trusts and most do not. */
export interface AuthoritiesReport {
  /** The files and settings that add such authorities, each with their number. Programs in sandboxes trust them too. */
  readonly own: readonly string[];
  /** Sentences about files that contain no authorities, and about programs that fail although there are some. */
  readonly remarks: readonly string[];
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
  return { own: sources, remarks: [...problems, ...(sources.length > 0 ? [failing] : [])] };
}

/** The report as lines for people. */
export function describeAuthorities({ own, remarks }: AuthoritiesReport): string[] {
  const which = own.length === 0 ? "none; --trust-ca adds one" : own.join(", ");
  return [
    `Authorities of certificates that sandboxes trust beside everybody's: ${which}`,
    ...remarks.map((remark) => `  ! ${remark}`),
  ];
}
