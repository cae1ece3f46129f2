/** What an agent shows instead of the value of an environment variable whose name looks secret. Never write it back. */
export const maskedValue = "***MASKED***";
