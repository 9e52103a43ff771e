/** What `run` throws. @throws Error when it throws nothing. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("Cannot look at what was thrown: nothing was");
}
