/**
 * Does the work and then what must follow it, such as the delete of a sandbox. Of two failures, tells that of the work: a connection
 * that broke, for instance, is why the delete cannot be asked for.
 */
export async function followed<Result>(
  work: () => Promise<Result>,
  after: () => Promise<unknown>,
): Promise<Result> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await after().catch(() => undefined);
    throw error;
  }
  await after();
  return result;
}
