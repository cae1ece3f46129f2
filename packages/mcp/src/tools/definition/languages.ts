/** What sandboxes run. */
export const languages = ["python", "javascript", "bash", "go"] as const;
