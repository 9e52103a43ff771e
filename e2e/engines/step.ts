/** A step of the walk, and what it has to do with. */
import type { Demo } from "../demo/start-demo.ts";
import type { TestOrigin } from "../fixtures/test-origin/test-origin.ts";
import type { Shaper } from "../lab/shaper.ts";
import type { RemoteBrowser } from "./remote-browser.ts";

export interface Surroundings {
  readonly browser: RemoteBrowser;
  /** Its name and version. */
  readonly engine: string;
  /** Between browser and edge. */
  readonly link: Shaper;
  /** Where it listens: `http://localhost:port`. */
  readonly edgeUrl: string;
  readonly accessKey: string;
  readonly demo: Demo;
  /** A site, and another. */
  readonly origin: TestOrigin;
  readonly otherOrigin: TestOrigin;
}

export interface Step {
  readonly name: string;
  /** Where it is about what only this engine does; how its name begins. */
  readonly engine?: string;
  run(surroundings: Surroundings): Promise<void>;
}

const ADDRESS = 'input[aria-label="Address"]';
export const SHOWN_ADDRESS = `return document.querySelector('${ADDRESS}').value`;

/** By the address box. */
export async function go(browser: RemoteBrowser, url: string): Promise<void> {
  await browser.enter("app", ADDRESS, url);
}

export async function press(browser: RemoteBrowser, button: string): Promise<void> {
  await browser.click("app", `button[aria-label="${button}"]`);
}
