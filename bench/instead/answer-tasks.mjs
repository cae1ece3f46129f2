/** Answers the messages of `hostedBy`. `tasks`: by the names of their tasks. */
export function answerTasks(tasks) {
  process.on("message", async ({ id, task, program }) => {
    try {
      process.send({ id, output: await tasks[task](program) });
    } catch (error) {
      process.send({ id, error: String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
}
