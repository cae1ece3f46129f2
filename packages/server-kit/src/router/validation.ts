import { isObject } from "../http/exchange.js";
import { Problem } from "../http/problem.js";
import type { Input, SchemaError } from "./contract.js";

/**
 * Validates a value and fills in its defaults. Throws a 400 problem that names each invalid field and what it
 * accepts.
 */
export function validate(input: Input, value: unknown): void {
  if (!input.validate(value)) throw validationProblem(input.validate.errors ?? [], input.units);
}

/** Most errors that are examined: a body can have as many errors as bytes, and nobody reads more than a few. */
const considered = 100;
const longestName = 200;

function validationProblem(all: readonly SchemaError[], units: Input["units"]): Problem {
  // An error about a property's name is reported by the "propertyNames" error, which includes the name.
  const errors = all
    .filter(({ propertyName }) => propertyName === undefined)
    .slice(0, considered)
    .map((error) => withReason(error, all));
  const causes = topmost(errors);
  const findings = causes.map((error) => describe(error, errors, units));
  const onlyMissing = causes.every((error) => isMissing(error, errors));
  const message = [...new Set(findings.map((finding) => finding.message))].join("; ");
  return new Problem(400, onlyMissing ? "MISSING_PARAMETER" : "INVALID_REQUEST", message, {
    details: { errors: findings },
  });
}

/** An error about a property's name says what the name must be. */
function withReason(error: SchemaError, all: readonly SchemaError[]): SchemaError {
  const { keyword, params, instancePath } = error;
  if (keyword !== "propertyNames") return error;
  const about = all.find(
    (each) => each.propertyName === params.propertyName && each.instancePath === instancePath,
  );
  return about ? { ...error, params: { ...params, reason: expectation(about) } } : error;
}

interface Finding {
  readonly field: string;
  readonly message: string;
}

/**
 * Removes the errors of single branches of an `anyOf` or `oneOf`; the error of the `anyOf` or `oneOf` represents
 * them.
 */
function topmost(errors: readonly SchemaError[]): SchemaError[] {
  const choices = errors.filter(isChoice);
  return errors.filter((error) => !choices.some((choice) => choice !== error && isBranch(error, choice)));
}

const isChoice = (error: SchemaError) => error.keyword === "anyOf" || error.keyword === "oneOf";

/**
 * Whether an error belongs to a branch of a choice. Errors of a branch that is a reference have another schema path,
 * so below the root the field's path decides.
 */
const isBranch = (error: SchemaError, choice: SchemaError) =>
  error.schemaPath.startsWith(`${choice.schemaPath}/`) ||
  (choice.instancePath !== "" &&
    !isChoice(error) &&
    (error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`)));

const branchesOf = (choice: SchemaError, errors: readonly SchemaError[]) =>
  errors.filter((error) => error !== choice && isBranch(error, choice));

function isMissing(error: SchemaError, errors: readonly SchemaError[]): boolean {
  if (!isChoice(error)) return error.keyword === "required";
  const branches = branchesOf(error, errors);
  return branches.length > 0 && branches.every((branch) => branch.keyword === "required");
}

function describe(error: SchemaError, errors: readonly SchemaError[], units: Input["units"]): Finding {
  const { instancePath, keyword, params } = error;
  if (keyword === "required") {
    const field = fieldName(`${instancePath}/${params.missingProperty}`);
    return { field, message: `${field} is required` };
  }
  if (isChoice(error)) {
    const branches = branchesOf(error, errors);
    const [only, ...others] = insideOnlyForm(error, branches);
    return only ? describe(only, [only, ...others], units) : describeChoice(error, branches);
  }
  const field = fieldName(instancePath);
  const unit = units[instancePath.slice(1)];
  return {
    field,
    message: `${field || "the body"} ${expectation(error)}${unit && "limit" in params ? ` (${unit})` : ""}`,
  };
}

/**
 * The errors inside the other form, if a value may be `null` or of one other form and is of that form. Empty otherwise.
 * An error that says that the value is not `null` would only distract.
 */
function insideOnlyForm(choice: SchemaError, branches: readonly SchemaError[]): readonly SchemaError[] {
  const isNullForm = ({ keyword, params }: SchemaError): boolean =>
    keyword === "type" && params.type === "null";
  const others = branches.filter((branch) => !isNullForm(branch));
  const isWrongForm = others.some(
    ({ keyword, instancePath }) => keyword === "type" && instancePath === choice.instancePath,
  );
  return others.length === branches.length || isWrongForm ? [] : topmost(others);
}

function describeChoice(choice: SchemaError, branches: readonly SchemaError[]): Finding {
  const field = fieldName(choice.instancePath);
  if (branches.length > 0 && branches.every((branch) => branch.keyword === "required")) {
    const names = branches.map((branch) =>
      fieldName(`${branch.instancePath}/${branch.params.missingProperty}`),
    );
    return { field: names[0] ?? field, message: `${names.join(" or ")} is required` };
  }
  const types = branches.filter(
    (branch) => branch.keyword === "type" && branch.instancePath === choice.instancePath,
  );
  const accepted =
    types.length > 0
      ? `must be ${alternatives(types.map((branch) => branch.params.type))}`
      : "has none of the accepted forms";
  return { field, message: `${field || "the body"} ${accepted}` };
}

/** Describes in words what a value must be. The value itself is never repeated, because it may be a secret. */
function expectation({ keyword, params, message = "is not valid" }: SchemaError): string {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `must be ${alternatives(params.type)}`;
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `must be ${params.comparison} ${limit}`;
    case "enum":
      return `must be one of ${[params.allowedValues].flat().join(", ")}`;
    case "not":
      return "must have another value";
    case "const":
      return `must be ${params.allowedValue}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minItems":
    case "minProperties":
      return `must have at least ${limit} entries`;
    case "maxItems":
    case "maxProperties":
      return `must have at most ${limit} entries`;
    case "format":
      return `must be a valid ${params.format}`;
    case "pattern":
      return patternInWords(String(params.pattern));
    case "propertyNames":
      return `must not have the name ${JSON.stringify(String(params.propertyName).slice(0, 40))}: it ${params.reason ?? "is not valid"}`;
    default:
      return message;
  }
}

const alternatives = (types: unknown) =>
  [...new Set([types].flat())]
    .map((type) => (/^[aeio]/.test(String(type)) ? `an ${type}` : `a ${type}`))
    .join(" or ");

/** Turns a JSON pointer into the usual notation: `/steps/0/type` becomes `steps[0].type`. */
function fieldName(pointer: string): string {
  const parts = pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("")
    .slice(0, longestName);
}

/** Describes in words what a regular expression of the contracts accepts. The words follow the name of a field. */
export function patternInWords(pattern: string): string {
  return words[pattern] ?? "is not in the accepted form";
}

const words: Readonly<Record<string, string>> = {
  "^[^\\u0000]*$": "must not contain a null byte",
  "^[^/\\u0000-\\u001f]*$": "must not contain a slash or control characters",
  "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$":
    "must be 1 to 64 letters, digits, dots, dashes and underscores, with a letter or digit first",
  "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$":
    "must be lower-case letters, digits, dashes and dots, with a letter or digit at both ends",
  "^[A-Za-z_][A-Za-z0-9_]*$": "must be letters, digits and underscores, without a digit first",
  "^[A-Za-z0-9_-]{22,64}$": "must be 22 to 64 letters, digits, dashes and underscores",
  "^[!-~]+$": "must be ASCII characters without spaces",
  "^0?[0-7]{3}$": "must be three octal digits, as in 644",
  "^[A-Za-z_]+(\\+[A-Za-z_]+)*$": "must be names of languages with a + between them, as in eng+deu",
  "^[!-~](?:[ -~]*[!-~])?$": "must be ASCII characters on one line, without a space at either end",
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$": "must be the name of a header",
  "^[!-9;-~]*$": "must be ASCII characters without spaces and colons",
  "^[A-Z]{1,32}$": "must be 1 to 32 capital letters",
  "^/[!-)+-~]*\\*?$": "must be a path that begins with /, and have a * only at its end",
  "^[A-Za-z0-9][A-Za-z0-9._-]*$":
    "must be letters, digits, dots, dashes and underscores, with a letter or digit first",
  "^[0-9a-f]{64}$": "must be 64 hexadecimal digits in lower case",
  "^[A-Za-z0-9._-]+$": "must be letters, digits, dots, dashes and underscores",
};

/**
 * Throws a 400 problem if a text or a property name in the body contains half a surrogate pair. JSON can escape such
 * a half, but strict readers reject it.
 */
export function requireWellFormed(body: unknown): void {
  if (!isObject(body)) return;
  for (const [field, value] of Object.entries(body)) {
    if (isWellFormed([field, value])) continue;
    const message = `${shown(field)} must be well-formed Unicode, without unpaired surrogates`;
    throw new Problem(400, "INVALID_REQUEST", message, {
      details: { errors: [{ field: shown(field), message }] },
    });
  }
}

/** Iterates instead of recursing, because a body may be nested as deeply as it is long. */
function isWellFormed(value: unknown): boolean {
  const parts = [value];
  for (const part of parts) {
    if (typeof part === "string" && halfPair.test(part)) return false;
    if (typeof part !== "object" || part === null) continue;
    for (const [name, inner] of Object.entries(part)) parts.push(name, inner);
  }
  return true;
}

const halfPair = /\p{Surrogate}/u;

const shown = (field: string): string => (halfPair.test(field) ? "a name" : field);
