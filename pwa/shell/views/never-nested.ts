/**
 * A task that never runs inside itself: what asks for it meanwhile has it run once more, right after. Removing a focused
 * element makes the browser call focus handlers in the middle of a render, and Preact does not take a render inside a
 * render.
 */
export function neverNested(task: () => void): () => void {
  let isRunning = false;
  let isWanted = false;
  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isWanted) {
        isWanted = false;
        task();
      }
    } finally {
      isRunning = false;
    }
  };
}
