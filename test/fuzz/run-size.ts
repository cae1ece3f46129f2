/**
 * FUZZ_CASES=1000 makes a long run with a random seed, and FUZZ_SEED repeats one. Without them every run sends the same
 * requests.
 */
const { FUZZ_CASES, FUZZ_SEED } = process.env;

/** Requests per operation. */
export const cases = Number(FUZZ_CASES ?? 8);
export const seed = Number(FUZZ_SEED ?? (FUZZ_CASES === undefined ? 20_260_101 : Date.now() % 2 ** 31));
