/** Firefox, by its own remote protocol: WebDriver's commands as JSON over a TCP socket, each message behind its length. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, Remote } from "./remote-browser.ts";

/** Names of https://searchfox.org/mozilla-central/source/remote/marionette/driver.sys.mjs. */
const NAMES: Record<Command, string> = {
  navigate: "WebDriver:Navigate",
  frame: "WebDriver:SwitchToFrame",
  find: "WebDriver:FindElement",
  click: "WebDriver:ElementClick",
  type: "WebDriver:ElementSendKeys",
  run: "WebDriver:ExecuteAsyncScript",
};

/** A proxy that is not there for all but this machine, so that nothing leaves it; and a port that the system chooses. */
const PREFERENCES = {
  "marionette.port": 0,
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 9,
  "network.proxy.allow_hijacking_localhost": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "app.update.disabledForTesting": true,
};
/** Runs in the browser's own context. Until then WebDriver has passwords off. */
const KEEP_PASSWORD = `
  const [origin, password, done] = arguments;
  const login = Cc["@mozilla.org/login-manager/loginInfo;1"].createInstance(Ci.nsILoginInfo);
  login.init(origin, origin, null, "me", password, "", "");
  for (const name of ["autofillForms", "rememberSignons"]) Services.prefs.setBoolPref("signon." + name, true);
  Services.logins.addLoginAsync(login).then(() => done(null), (error) => done(String(error)));`;
/** Debian's, else whatever the system calls so. */
const PROGRAM = existsSync("/usr/bin/firefox-esr") ? "/usr/bin/firefox-esr" : "firefox";
/** Milliseconds. */
const START_TIME = 30_000;
const PAUSE = 100;

/** @throws Error "Cannot start Firefox: reason". */
export async function startFirefox(): Promise<Remote> {
  const profile = await mkdtemp(join(tmpdir(), "ropeway-firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, "user.js"), lines.join("\n"));
  const options = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile];
  const child = spawn(PROGRAM, options, {
    stdio: "ignore",
    env: { ...process.env, HOME: profile },
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const close = async (): Promise<void> => {
    kill();
    process.off("exit", kill);
    await exited;
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: PAUSE });
  };
  try {
    const connection = new MarionetteConnection(await connectTo(await portOf(profile)));
    const session = await connection.send("WebDriver:NewSession", {});
    const { capabilities } = session as { readonly capabilities: { readonly browserVersion: string } };
    return {
      name: `Firefox ${capabilities.browserVersion}`,
      send: async (command, parameters) => {
        const answer = await connection.send(NAMES[command], parametersOf(command, parameters));
        // What is no element or object comes wrapped.
        return typeof answer === "object" && answer !== null && "value" in answer ? answer.value : answer;
      },
      keepPassword: async (origin, password) => {
        await connection.send("Marionette:SetContext", { value: "chrome" });
        const run = { script: KEEP_PASSWORD, args: [origin, password] };
        const answer = (await connection.send(NAMES.run, run)) as { readonly value: string | null };
        await connection.send("Marionette:SetContext", { value: "content" });
        if (answer.value !== null) throw new Error(`Cannot keep a password: ${answer.value}`);
      },
      close,
    };
  } catch (error) {
    await close();
    throw new Error(`Cannot start Firefox: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A frame's element stands under a name of its own. */
function parametersOf(
  command: Command,
  parameters: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { id } = parameters;
  return command === "frame" && id !== null ? { element: Object.values(id as object)[0] } : parameters;
}

/** Firefox writes down the port that it listens on. */
async function portOf(profile: string): Promise<number> {
  const deadline = Date.now() + START_TIME;
  while (Date.now() < deadline) {
    const port = Number(await readFile(join(profile, "MarionetteActivePort"), "utf8").catch(() => "0"));
    if (port > 0) return port;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Error("it does not listen for commands");
}

function connectTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html */
class MarionetteConnection {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #received = Buffer.alloc(0);
  #lastId = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser closed the connection"));
    });
  }

  send(name: string, parameters: Readonly<Record<string, unknown>>): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    const message = JSON.stringify([0, id, name, parameters]);
    this.#socket.write(`${Buffer.byteLength(message)}:${message}`);
    return answer.promise;
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const colon = this.#received.indexOf(":");
      const end = colon + 1 + Number(this.#received.subarray(0, colon));
      if (colon < 0 || this.#received.length < end) return;
      const message: unknown = JSON.parse(this.#received.toString("utf8", colon + 1, end));
      this.#received = this.#received.subarray(end);
      // The first one only introduces the browser.
      if (Array.isArray(message)) this.#settle(message);
    }
  }

  #settle([, id, error, result]: readonly unknown[]): void {
    const answer = this.#waiting.get(id as number);
    this.#waiting.delete(id as number);
    if (error === null) answer?.resolve(result);
    else answer?.reject(new Error((error as { readonly message: string }).message));
  }
}
