import { TrieRouter } from "hono/router/trie-router";
import type { Operation } from "../contract/contract.js";

/** The operation of a request, with its path parameters decoded. */
export interface FoundOperation {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds operations of a contract by method and path. */
export class OperationRoutes {
  readonly #operations = new TrieRouter<Operation>();
  /** The operations that are no WebSockets, by path alone. */
  readonly #paths = new TrieRouter<Operation>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const path = operation.path.replace(/\{(\w+)\}/g, ":$1");
      this.#operations.add(operation.method, path, operation);
      if (!operation.upgrade) this.#paths.add("ALL", path, operation);
    }
  }

  /** The operation at a path without its query. HEAD finds that of GET. */
  find(method: string, path: string): FoundOperation | undefined {
    const [matches] = this.#operations.match(method === "HEAD" ? "GET" : method, path);
    // A literal path takes precedence over one with a parameter.
    const [best] = matches.sort(([a], [b]) => parameters(a) - parameters(b));
    if (!best) return undefined;
    const [operation, raw] = best;
    const entries = Object.entries(raw).map(([name, text]) => [name, decoded(String(text))] as const);
    return { operation, params: Object.fromEntries(entries) };
  }

  /** The methods of the operations at a path, WebSockets aside. */
  methodsAt(path: string): ReadonlySet<string> {
    const [matches] = this.#paths.match("ALL", path);
    return new Set(matches.map(([{ method }]) => method));
  }
}

const parameters = ({ path }: Operation) => path.split("{").length - 1;

/** Decodes a path parameter. One that is not encoded correctly is passed on unchanged; the handler refuses it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
