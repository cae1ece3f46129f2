type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** A copy of `fields` without undefined values, because an option that was not given must not be sent. */
export function omitUndefined<Fields extends object>(fields: Fields): Present<Fields> {
  const present: Present<Fields> = { ...fields };
  for (const key in present) {
    if (present[key] === undefined) delete present[key];
  }
  return present;
}
