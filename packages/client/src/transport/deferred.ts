/** Member kind: a method that returns a promise. */
export const call = 0;
/** Member kind: a method that returns an async iterable. Does nothing before the first read. */
export const each = 1;
/** Member kind: a method that returns nothing; called once the code is loaded. */
export const later = 2;

type Member<Of> = Of extends (...args: never) => infer Result
  ? Result extends Promise<unknown>
    ? typeof call
    : Result extends AsyncGenerator
      ? typeof each
      : Result extends void
        ? typeof later
        : { readonly gives: Members<Result> }
  : { readonly has: Members<Of> };

/**
 * Describes every member of a resource: its kind, or what it returns (`gives`) or holds (`has`) if that is such a
 * resource itself.
 */
export type Members<Resource> = { readonly [Name in keyof Resource]: Member<Resource[Name]> };

/**
 * A stand-in for a resource whose code is loaded with the first call, so that programs that never use it do not load it.
 * Calls are made in order. `known` are the properties that can be read without loading the code.
 */
export function deferred<Resource extends object, Known extends keyof Resource = never>(
  load: () => Promise<Resource>,
  members: Omit<Members<Resource>, Known>,
  ...[known]: [Known] extends [never] ? [] : [Pick<Resource, Known>]
): Resource {
  const source: Source = {
    async load() {
      source.loading ??= load();
      try {
        source.loaded ??= await source.loading;
      } catch (error) {
        // Forget the failure, so that the next call tries again.
        source.loading = undefined;
        throw error;
      }
      return source.loaded;
    },
  };
  const standIn: object = { ...known };
  for (const name of Reflect.ownKeys(members))
    Reflect.set(standIn, name, memberOf(source, name, Reflect.get(members, name)));
  return standIn as Resource;
}

type AnyMember = typeof call | typeof each | typeof later | { gives: AnyMembers } | { has: AnyMembers };
type AnyMembers = Readonly<Record<PropertyKey, unknown>>;
type Iterable = AsyncGenerator<unknown, unknown, void>;

interface Source {
  load(): Promise<object>;
  loading?: Promise<object> | undefined;
  loaded?: object;
}

function memberOf(source: Source, name: PropertyKey, member: AnyMember): unknown {
  const invoke = <Result>(resource: object, args: unknown[]): Result =>
    Reflect.apply(Reflect.get(resource, name), resource, args);
  const invoked = async <Result>(args: unknown[]): Promise<Result> => invoke(await source.load(), args);
  if (member === call)
    return (...args: unknown[]) =>
      source.loaded === undefined ? invoked(args) : invoke(source.loaded, args);
  if (member === each)
    return async function* (...args: unknown[]) {
      return yield* await invoked<Iterable>(args);
    };
  if (member === later)
    return (...args: unknown[]): void => {
      // Ignore errors: if the code cannot be loaded, the other methods report it.
      invoked(args).catch(() => undefined);
    };
  if ("has" in member)
    return deferred<object>(async () => Reflect.get(await source.load(), name), member.has);
  return (...args: unknown[]) => deferred<object>(() => invoked(args), member.gives);
}
