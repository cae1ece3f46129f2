/** How a method is stood in for: */
/** it gives a promise; */
export const call = 0;
/** it gives what `for await` reads, and does nothing before the first read; */
export const each = 1;
/** it gives nothing, and is called as soon as it can be. */
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

/** Every member of a resource: a method as above, one that `gives` another such resource, or a part that it `has`. */
export type Members<Resource> = { readonly [Name in keyof Resource]: Member<Resource[Name]> };

/**
 * Stands in for a resource whose code is loaded with the first call to it, so that programs that never use it need not
 * carry it. Calls are made in their order. `known` are the facts that need no code.
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
        // What is not there now may be there with the next call.
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
      // Code that cannot be loaded is told by the calls that give something.
      invoked(args).catch(() => undefined);
    };
  if ("has" in member)
    return deferred<object>(async () => Reflect.get(await source.load(), name), member.has);
  return (...args: unknown[]) => deferred<object>(() => invoked(args), member.gives);
}
