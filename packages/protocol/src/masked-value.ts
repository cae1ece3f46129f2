/**
 * Shown by an agent in place of the value of an environment variable whose name looks secret. Do not send it back as
 * a value.
 */
export const maskedValue = "***MASKED***";
