/** What the bench does with the app beyond what `AppPage` does: it waits without touching the page, and notes times. */
import type { Frame, Page } from "@playwright/test";
import type { AppPage } from "../../fixtures/app-page.ts";
import { ContestantError, HarnessError } from "../failure.ts";
import { EDGE_HOST } from "../servers/ropeway-edge.ts";

/** Paths that the app keeps for itself on all of its hosts. */
const RESERVED = "/.ropeway/";

/** Opens the app with an address to load. Returns when the navigation to the app began, since 1970. */
export async function launch({ page }: AppPage, origin: string, url: string): Promise<number> {
  await page.goto(`${origin}/#url=${encodeURIComponent(url)}`, { waitUntil: "commit", timeout: 0 });
  await page.evaluate(untilSettled, false);
  return page.evaluate(() => performance.timeOrigin);
}

/** Types the address and presses Enter. Returns when the key went down, since 1970. */
export async function enter(app: AppPage, url: string): Promise<number> {
  const { page, address } = app;
  await address.fill(url);
  const [zero] = await Promise.all([
    page.evaluate(timeOfEnter),
    page.evaluate(untilSettled, true),
    address.press("Enter"),
  ]);
  return zero;
}

/** Runs in the app. */
function timeOfEnter(): Promise<number> {
  return new Promise((resolve) => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Enter") return;
      removeEventListener("keydown", onKey, true);
      resolve(performance.timeOrigin + event.timeStamp);
    };
    addEventListener("keydown", onKey, true);
  });
}

/** The frame with the page, once the app says that it has loaded. */
export async function shownPage(app: AppPage): Promise<Frame> {
  if ((await app.phase()) !== "loaded") {
    const text = (await app.page.locator("body").textContent())?.replace(/\s+/g, " ").slice(0, 200);
    throw new ContestantError(`Cannot load the page: the app says: ${text}`);
  }
  // One cold visit of fifty: a screenshot had the page. Why Playwright has no such frame is not known.
  return app.content().catch((cause: unknown) => {
    throw new HarnessError("Cannot watch the page: the app shows it, but the automation has lost its frame", { cause });
  });
}

/**
 * Runs in the app. Settles when its page has loaded or failed.
 *
 * @param showsPage a page is shown already, and another one will be asked for.
 */
function untilSettled(showsPage: boolean): Promise<void> {
  return new Promise((resolve) => {
    const root = document.documentElement;
    let isUnderWay = !showsPage;
    const look = (): void => {
      const phase = root.dataset.page ?? "";
      if (phase === "loading") isUnderWay = true;
      else if (isUnderWay && (phase === "loaded" || phase === "failed")) {
        observer.disconnect();
        resolve();
      }
    };
    const observer = new MutationObserver(look);
    observer.observe(root, { attributeFilter: ["data-page"] });
    look();
  });
}

/** Whether a hidden frame's service worker waits for a site. */
export async function hasSpareSlot(page: Page): Promise<boolean> {
  const spare = page.frames().findLast((frame) => URL.parse(frame.url())?.pathname === `${RESERVED}boot`);
  if (spare === undefined) return false;
  return spare.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state === "activated");
}

/** Not the app's own files, nor what it adds to pages. */
export function isPageRequest(url: URL): boolean {
  return url.hostname !== EDGE_HOST && !url.pathname.startsWith(RESERVED);
}
