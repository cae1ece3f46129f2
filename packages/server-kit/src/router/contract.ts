/** A validation error: those fields of Ajv's error objects that are used here. */
export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** The invalid name of a property. Set only if the error is about a name. */
  readonly propertyName?: string;
}

/**
 * A validator compiled from a contract. Fills in defaults in the value, and sets `errors` if the value is invalid.
 */
export interface Validate {
  (value: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/** The facts about one operation of a contract that a server needs at run time. */
export interface Operation {
  readonly operationId: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  /** Path, with `{name}` in place of each path parameter. */
  readonly path: string;
  /** Whether callers need credentials. */
  readonly authenticated: boolean;
  /** HTTP status of a successful answer. */
  readonly status: number;
  /** Whether this is a WebSocket endpoint, which is reached by an upgrade only. */
  readonly upgrade?: boolean;
  /** Frames that a WebSocket client may send, by the frame's `type` (or `action`). */
  readonly frames?: Readonly<Record<string, Input>>;
  readonly query?: Input & { readonly types: Readonly<Record<string, string>> };
  /** Present if the operation takes a JSON body. */
  readonly body?: Input & { readonly required: boolean };
}

/** The validator for one part of a request, and the units of its numbers, for error messages. */
export interface Input {
  readonly validate: Validate;
  readonly units: Readonly<Record<string, string>>;
}

/** The run-time part of a contract, which also carries the contract's types. */
export interface Contract<Types extends ContractTypes> {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** Never set at run time: it only connects the table with its types. */
  readonly types?: Types;
}

export interface ContractTypes {
  /** The type `operations` that openapi-typescript generates. */
  operations: object;
  /** For each operation, the names of the fields that its validators fill in. */
  defaults: object;
  /** The ids of operations that need no credentials. */
  public: string;
}
