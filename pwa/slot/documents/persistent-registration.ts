/** Milliseconds. */
const PAUSE = 2_000;

/**
 * Registers a service worker, again and again where its script did not come (Service Workers section 4, "Update": a
 * TypeError): on a poor link one lost request must not end the site. What the browser refuses is thrown.
 */
export async function registerPersistently<Registration>(
  register: () => Promise<Registration>,
  pause: (time: number) => Promise<void>,
): Promise<Registration> {
  for (;;) {
    try {
      return await register();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await pause(PAUSE);
  }
}
