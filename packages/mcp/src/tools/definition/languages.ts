import { languages as known } from "@cloud-sandbox/server-kit/limits";

/** The languages of code that sandboxes run. */
export const languages = Object.keys(known) as (keyof typeof known)[];
