/**
 * Idle callbacks of a quiet page. Chromium (156) tells a renderer that no frame is due, which begins an idle period, by
 * its page's own document only. A slot's document is in another process than the shell's (`Origin-Agent-Cluster`): there
 * the time after a drawn frame is all that counts as idle. So whoever waits for idle time asks for frames.
 */
import { patchMethod } from "./patch.ts";

/** @param frame of the window, to draw which costs next to nothing where nothing has changed. */
export function patchIdle(
  target: object,
  frame: (callback: () => void) => void = requestAnimationFrame.bind(window),
): void {
  let waiting = 0;
  const draw = (): void => {
    if (waiting > 0) frame(draw);
  };
  patchMethod(target, "requestIdleCallback", (native, self, args) => {
    const handle = native(self, args);
    // Comes after the page's, also after one that was cancelled.
    native(self, [() => void waiting--]);
    if (++waiting === 1) frame(draw);
    return handle;
  });
}
