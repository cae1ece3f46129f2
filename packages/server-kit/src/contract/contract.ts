/** What a validator found wrong: the shape of Ajv's error objects, as far as it is read here. */
export interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** Set when it is about the name of a property, which is then the value. */
  readonly propertyName?: string;
}

/** A validator compiled from a contract: fills in defaults, and on failure leaves `errors` behind. */
export interface Validate {
  (value: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/** One operation of a contract, as a server needs it at run time. */
export interface Operation {
  readonly operationId: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  /** With `{name}` for a path parameter. */
  readonly path: string;
  /** Whether the contract asks for credentials. */
  readonly authenticated: boolean;
  /** The status of a successful answer. */
  readonly status: number;
  /** A WebSocket endpoint: reached by an upgrade, never by an ordinary request. */
  readonly upgrade?: boolean;
  /** What the client of a WebSocket may send, by the frame's `type` (or `action`). */
  readonly frames?: Readonly<Record<string, Input>>;
  readonly query?: Input & { readonly types: Readonly<Record<string, string>> };
  /** Present when the operation takes a JSON body. */
  readonly body?: Input & { readonly required: boolean };
}

/** What a caller sends, with the units that its numbers are counted in. */
export interface Input {
  readonly validate: Validate;
  readonly units: Readonly<Record<string, string>>;
}

/** The run-time half of a contract, carrying the types of its other half. */
export interface Contract<Types extends ContractTypes> {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** Never present at run time: it ties the table to its types. */
  readonly types?: Types;
}

export interface ContractTypes {
  /** openapi-typescript's `operations`. */
  operations: object;
  /** Per operation, the names of the fields its validators fill in. */
  defaults: object;
  /** The operations that need no credentials. */
  public: string;
}
