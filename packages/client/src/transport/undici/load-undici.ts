type Undici = typeof import("undici");

/** Loads undici. It is CommonJS: in bundles, only the default export of such a module has its members. */
export async function loadUndici(): Promise<Undici> {
  const { default: members } = await import("undici");
  // Cast needed: the types of the default export leave some members out.
  return members as unknown as Undici;
}
