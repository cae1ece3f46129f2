import type { Destination } from "./destination.js";
import { DestinationPattern } from "./destination-pattern.js";
import { isAmbiguousPath, matchesPath } from "./secrets/path-patterns.js";

const form = /^(?:([A-Z]+(?:,[A-Z]+)*) )?([^/\s]+)(\/[^\s?#]*)?$/;

/**
 * An entry of an allow or deny list about requests: `GET api.github.com`, `api.github.com/repos/*`, or both,
 * `GET,HEAD api.github.com/repos/*`. Without a port it is for that of HTTPS alone.
 */
export class RequestRule {
  private constructor(
    readonly text: string,
    /** The hosts that it is for. */
    readonly pattern: DestinationPattern,
    private readonly methods: readonly string[] | undefined,
    private readonly path: string | undefined,
  ) {}

  /** Parses an entry; undefined if it is not about requests. */
  static parse(text: string): RequestRule | undefined {
    const [, methods, host = "", path] = form.exec(text) ?? [];
    if (methods === undefined && path === undefined) return undefined;
    const pattern = DestinationPattern.parse(/:\d+$/.test(host) ? host : `${host}:443`);
    if (!pattern?.isName || (path !== undefined && isAmbiguousPath(path))) return undefined;
    return new RequestRule(text, pattern, methods?.split(","), path);
  }

  isFor(destination: Destination): boolean {
    return this.pattern.matchesName(destination);
  }

  matches(method: string, path: string): boolean {
    if (this.methods && !this.methods.includes(method)) return false;
    return this.path === undefined || matchesPath(this.path, path);
  }
}
