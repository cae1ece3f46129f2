/** FUZZ_CASES=1000 for a long run, FUZZ_SEED to repeat one; the usual run is the same each time. */
const { FUZZ_CASES, FUZZ_SEED } = process.env;

/** Per operation. */
export const cases = Number(FUZZ_CASES ?? 8);
export const seed = Number(FUZZ_SEED ?? (FUZZ_CASES === undefined ? 20_260_101 : Date.now() % 2 ** 31));
