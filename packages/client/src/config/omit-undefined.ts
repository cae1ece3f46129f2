type Given<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** `fields` without those that are undefined: on the wire, what was not given is absent. */
export function omitUndefined<Fields extends object>(fields: Fields): Given<Fields> {
  const present: Given<Fields> = { ...fields };
  for (const key in present) {
    if (present[key] === undefined) delete present[key];
  }
  return present;
}
