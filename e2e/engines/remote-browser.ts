/** A browser driven by WebDriver's commands (https://www.w3.org/TR/webdriver2/), by whatever road they reach it. */

/** What the walk needs of WebDriver. Parameters and answers are as in the standard; an element is `{ [ELEMENT]: id }`. */
export type Command = "navigate" | "frame" | "find" | "click" | "type" | "run";

export interface Remote {
  /** Engine and version, for people. */
  readonly name: string;
  /** @throws Error with the browser's own message when the command fails. */
  send(command: Command, parameters: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Has the browser keep a password for this origin, and fill it in by itself. Where an engine lets nobody do that: left out. */
  keepPassword?(origin: string, password: string): Promise<void>;
  /** Ends the browser and all that was started with it. */
  close(): Promise<void>;
}

/** The app's own document, or that of the page which it shows. */
export type Place = "app" | "page";

/** What the standard names an element by. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const ENTER = "\ue007";
/** The frame of the page that is shown, for scripts of the app's document: selectors find nothing in its shadow tree. */
export const PAGE_FRAME = `document.querySelector(".frame-host").shadowRoot.querySelector('iframe[title="Page"]')`;
/** Milliseconds. */
const PAUSE = 100;
const PATIENCE = 20_000;

/** How often a browser is started until it comes: under load a driver now and then gives up at first. */
const STARTS = 3;

/**
 * @param tell takes why a start failed.
 * @returns null where none of the starts came to anything.
 */
export async function startAgainAndAgain(
  start: () => Promise<Remote>,
  tell: (line: string) => void,
): Promise<Remote | null> {
  for (let left = STARTS - 1; left >= 0; left--) {
    const remote = await start().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      tell(left === 0 ? why : `${why}; trying again`);
      return null;
    });
    if (remote !== null) return remote;
  }
  return null;
}

export class RemoteBrowser {
  readonly #remote: Remote;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  async keepPassword(origin: string, password: string): Promise<void> {
    await this.#remote.keepPassword?.(origin, password);
  }

  async open(url: string): Promise<void> {
    await this.#remote.send("navigate", { url });
  }

  /** @param script body of an async function. Its value has to be JSON. */
  async run(place: Place, script: string): Promise<unknown> {
    await this.#enter(place);
    const wrapped = `const done = arguments[0]; (async () => { ${script} })().then(done, (error) => done("Failed: " + error));`;
    const value = await this.#remote.send("run", { script: wrapped, args: [] });
    if (typeof value === "string" && value.startsWith("Failed: ")) throw new Error(value);
    return value;
  }

  /** Asks again until the value is the wanted one: a page may be on its way, and its frame with it. */
  async until(place: Place, script: string, wanted: unknown): Promise<void> {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const seen = await this.run(place, script).catch((error: unknown) => String(error));
      if (JSON.stringify(seen) === JSON.stringify(wanted)) return;
      if (Date.now() > deadline) throw new Error(`${script} is ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  /** As a person does. */
  async click(place: Place, selector: string): Promise<void> {
    await this.#remote.send("click", { id: await this.#find(place, selector) });
  }

  /** As a person does, with Enter at the end. */
  async enter(place: Place, selector: string, text: string): Promise<void> {
    await this.#remote.send("type", { id: await this.#find(place, selector), text: text + ENTER });
  }

  async #enter(place: Place): Promise<void> {
    await this.#remote.send("frame", { id: null });
    if (place === "app") return;
    const id = await this.#remote.send("run", { script: `arguments[0](${PAGE_FRAME})`, args: [] });
    if (id === null) throw new Error("Cannot look at the page: its frame is not there");
    await this.#remote.send("frame", { id });
  }

  async #find(place: Place, selector: string): Promise<string> {
    await this.#enter(place);
    return this.#element(selector);
  }

  async #element(selector: string): Promise<string> {
    const found = await this.#remote.send("find", { using: "css selector", value: selector });
    return (found as Record<string, string>)[ELEMENT] ?? "";
  }
}
