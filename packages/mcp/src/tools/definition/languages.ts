/** The languages of code that sandboxes run. */
export const languages = ["python", "javascript", "bash", "go"] as const;
