/** WebKitGTK's MiniBrowser, by its WebDriver, on a screen that nobody sees. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Command, Remote } from "./remote-browser.ts";

const PATHS: Record<Command, string> = {
  navigate: "url",
  frame: "frame",
  find: "element",
  click: "element/ID/click",
  type: "element/ID/value",
  run: "execute/async",
};

/** A proxy that is not there for all but this machine, so that nothing leaves it. */
const PROXY = {
  proxyType: "manual",
  httpProxy: "127.0.0.1:9",
  sslProxy: "127.0.0.1:9",
  noProxy: ["localhost", "*.localhost", "127.0.0.1"],
};
/** Milliseconds. */
const START_TIME = 30_000;
const COMMAND_TIME = 60_000;
const PAUSE = 100;

/** @throws Error "Cannot start WebKit: reason". */
export async function startWebKit(): Promise<Remote> {
  const screen = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "800x1000x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const children: ChildProcess[] = [screen];
  const close = (): void => {
    for (const child of children) child.kill("SIGKILL");
    process.off("exit", close);
  };
  process.once("exit", close);
  try {
    const display = await displayOf(screen);
    const port = await freePort();
    const driver = spawn("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], {
      stdio: "ignore",
      env: { ...process.env, DISPLAY: `:${display}`, GDK_BACKEND: "x11", LIBGL_ALWAYS_SOFTWARE: "1" },
    });
    children.unshift(driver);
    const base = `http://127.0.0.1:${port}/session`;
    await listening(`http://127.0.0.1:${port}/status`);
    const session = (await post(base, { capabilities: { alwaysMatch: { proxy: PROXY } } })) as {
      readonly sessionId: string;
      readonly capabilities: { readonly browserVersion: string };
    };
    const url = `${base}/${session.sessionId}`;
    return {
      name: `WebKitGTK ${session.capabilities.browserVersion}`,
      send: (command, parameters) => post(`${url}/${PATHS[command].replace("ID", String(parameters.id))}`, parameters),
      close: async () => {
        // Ends the browser, which is no child of ours.
        await fetch(url, { method: "DELETE", signal: AbortSignal.timeout(COMMAND_TIME) }).catch(() => {});
        close();
      },
    };
  } catch (error) {
    close();
    throw new Error(`Cannot start WebKit: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(COMMAND_TIME),
  });
  const { value } = (await response.json()) as { readonly value: { readonly message?: string } | null };
  if (!response.ok) throw new Error(value?.message ?? `status ${response.status}`);
  return value;
}

async function displayOf(screen: ChildProcess): Promise<string> {
  const told = screen.stdio[3];
  if (told === null || told === undefined) throw new Error("there is no screen");
  const [number] = (await Promise.race([
    once(told, "data", { signal: AbortSignal.timeout(START_TIME) }),
    once(screen, "exit").then(() => Promise.reject(new Error("Xvfb does not start"))),
  ])) as [Buffer];
  return number.toString().trim();
}

async function listening(url: string): Promise<void> {
  const deadline = Date.now() + START_TIME;
  while (Date.now() < deadline) {
    if ((await fetch(url).catch(() => null))?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Error("its driver does not listen");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
