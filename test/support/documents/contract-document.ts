import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";

export type Plane = "control-plane" | "agent";

/** The parts of a contract's schema that tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Referable {
  readonly $ref?: string;
}

interface OperationNode {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly (Parameter & Referable)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content } & Referable>>;
  readonly "x-client-frames"?: Schema;
  readonly "x-server-frames"?: Schema;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly "x-common-responses": OperationNode["responses"];
}

/** The documented answers with one status: a validator for each media type. */
export type Answer = Readonly<Record<string, Validator>>;

/** Says what is wrong with a value. Undefined if nothing is. */
export type Validator = (value: unknown) => string | undefined;

export interface DocumentedOperation {
  readonly plane: Plane;
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly secured: boolean;
  /** Whether the operation opens a WebSocket. */
  readonly upgrade: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly required: boolean; readonly content: Content };
  /** The documented answers by status, with those that every operation of the contract may give. */
  readonly answers: ReadonlyMap<number, Answer>;
  readonly clientFrames?: Schema;
  readonly serverFrames?: Validator;
}

const methods = ["get", "put", "post", "delete", "patch"] as const;

/** One of the two OpenAPI contracts, read from its YAML file, for tests that compare a server's answers with it. */
export class ContractDocument {
  readonly operations: readonly DocumentedOperation[];
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, formats });

  constructor(readonly plane: Plane) {
    const file = fileURLToPath(new URL(`../../../openapi/${plane}.yaml`, import.meta.url));
    this.#document = parse(readFileSync(file, "utf8")) as Document;
    this.#ajv.addSchema({ ...this.#document, $id: "contract" });
    this.operations = Object.entries(this.#document.paths).flatMap(([path, item]) =>
      methods.flatMap((method) => (item[method] === undefined ? [] : [this.#operation(path, method, item)])),
    );
  }

  /** The operation that a request reaches. Undefined if no operation has such a path and method. */
  operationAt(method: string, target: string): DocumentedOperation | undefined {
    const { pathname } = new URL(`http://server${target}`);
    const wanted = method === "HEAD" ? "GET" : method;
    const matching = this.operations.filter(
      (operation) => operation.method === wanted && pattern(operation.path).test(pathname),
    );
    return matching.find(({ path }) => path === pathname) ?? matching[0];
  }

  /** Follows `$ref`s in the document. Returns other nodes as they are. */
  resolve<Node extends Referable>(node: Node): Node {
    let at = node;
    while (at.$ref !== undefined) {
      let target: unknown = this.#document;
      for (const step of at.$ref.slice(2).split("/")) {
        target = (target as Readonly<Record<string, unknown>>)[step.replaceAll("~1", "/")];
      }
      at = target as Node;
    }
    return at;
  }

  #operation(path: string, method: string, item: Readonly<Record<string, unknown>>): DocumentedOperation {
    const node = item[method] as OperationNode;
    const shared = (item.parameters ?? []) as OperationNode["parameters"];
    const statuses = { ...this.#document["x-common-responses"], ...node.responses };
    const clientFrames = node["x-client-frames"];
    const serverFrames = node["x-server-frames"];
    return {
      plane: this.plane,
      operationId: node.operationId,
      method: method.toUpperCase(),
      path,
      tag: node.tags?.[0] ?? "",
      summary: node.summary ?? "",
      secured: node.security?.length !== 0,
      upgrade: "101" in node.responses,
      parameters: [...(shared ?? []), ...(node.parameters ?? [])].map((parameter) => this.resolve(parameter)),
      ...(node.requestBody && {
        body: { required: node.requestBody.required === true, content: node.requestBody.content },
      }),
      answers: new Map(
        Object.entries(statuses).map(([status, response]) => [Number(status), this.#answer(response)]),
      ),
      ...(clientFrames && { clientFrames }),
      ...(serverFrames && { serverFrames: this.#validator(serverFrames) }),
    };
  }

  #answer(response: OperationNode["responses"][string]): Answer {
    const content = Object.entries(this.resolve(response).content ?? {});
    return Object.fromEntries(content.map(([media, { schema }]) => [media, this.#validator(schema)]));
  }

  /** Compiles a validator when it is first used: compiling all takes seconds, and most test files need few. */
  #validator(schema: Schema): Validator {
    let compiled: ValidateFunction | undefined;
    return (value) => {
      if (compiled === undefined) {
        const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/');
        compiled = this.#ajv.compile(JSON.parse(text) as object);
      }
      if (compiled(value)) return undefined;
      return (compiled.errors ?? [])
        .map(({ instancePath, message }) => `${instancePath} ${message}`)
        .join(", ");
    };
  }
}

const pattern = (path: string) => new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);

const formats = {
  uri: /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+\S*$/i,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i,
  ...Object.fromEntries(
    [
      "int32",
      "int64",
      "float",
      "double",
      "byte",
      "binary",
      "password",
      "ipv4",
      "ipv6",
      "hostname",
      "email",
    ].map((name) => [name, true as const]),
  ),
};
