import { type AddressInfo, createServer, type Socket } from "node:net";
import { effectsOf, expect, test } from "./application.ts";

/** A server of chats, as small as a client bears, with one who answers in its only channel. */
async function startChatServer(): Promise<{ port: number; heard: string[]; close: () => Promise<void> }> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (/^(JOIN|PRIVMSG|TOPIC|PART)\b/.test(line)) heard.push(line);
        answerTo(line, say);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, heard, close };
}

function answerTo(line: string, say: (line: string) => void): void {
  const [command, target = "", ...words] = line.split(" ");
  if (command === "CAP" && target === "LS") say(":irc CAP * LS :");
  if (command === "USER") {
    say(":irc 001 tester :Welcome");
    say(":irc 005 tester CHANTYPES=# NETWORK=Ropeway :are supported");
    say(":irc 422 tester :No message of the day");
  }
  if (command === "PING") say(`:irc PONG irc ${target}`);
  if (command === "JOIN") {
    say(`:tester!t@h JOIN ${target}`);
    say(`:irc 332 tester ${target} :Über Seilbahnen`);
    say(`:irc 353 tester = ${target} :tester @answerer`);
    say(`:irc 366 tester ${target} :End`);
  }
  if (command === "PRIVMSG") say(`:answerer!a@h PRIVMSG ${target} :heard ${words.join(" ").slice(1)}`);
}

test("a person chats in The Lounge, and hears the answers by its socket", async ({ bothWays }) => {
  await bothWays(async ({ page, shown, goto, start }) => {
    const chat = await startChatServer();
    const application = await start(({ port, directory }) => ({
      script: "servers/thelounge.cjs",
      arguments: ["start"],
      environment: { THELOUNGE_HOME: directory },
      files: {
        "config.js": `module.exports = ${JSON.stringify({
          public: true,
          host: "127.0.0.1",
          port,
          prefetch: false,
          messageStorage: [],
          defaults: {
            name: "Chat",
            host: "127.0.0.1",
            port: chat.port,
            tls: false,
            rejectUnauthorized: false,
            nick: "tester",
            username: "tester",
            realname: "Tester",
            join: "#harbour",
          },
        })};`,
      },
    }));
    await goto(`${application.origin}/`);
    await shown.getByRole("button", { name: "Connect", exact: true }).click();
    await expect(shown.locator("#chat .topic")).toHaveText("Über Seilbahnen");
    const messages = shown.locator("#chat [data-type='message'] .content");
    for (const [index, text] of ["grüß dich", "https://example.invalid/ 山 :)"].entries()) {
      await shown.locator("#input").fill(text);
      await page.keyboard.press("Enter");
      await expect(messages).toHaveCount(2 * index + 2);
    }
    await expect(messages.last()).toHaveText(/heard https/);
    const texts = await messages.allInnerTexts();
    // They leave as the server does.
    const users = await shown.locator("#chat .userlist .user").allInnerTexts();
    await chat.close();
    const {
      reads,
      upgrades,
      messages: sent,
    } = effectsOf(application, (text) => text.replaceAll(/\bsid=[\w-]+/g, "sid=…"));
    return {
      texts,
      users,
      heard: chat.heard,
      // Pages have no service worker in Ropeway.
      reads: reads.filter((path) => !/^\/(socket\.io\/|service-worker\.js)/.test(path)),
      upgrades,
      sent: sent.filter((message) => message.includes('"input"')),
    };
  });
});
