/**
 * Bash that prints how many processes of its sandbox have this command line. It needs no pgrep, which Debian's base system does not
 * have.
 */
export const processCount = (commandLine: string): string =>
  `for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | grep -cx '${commandLine} '`;
