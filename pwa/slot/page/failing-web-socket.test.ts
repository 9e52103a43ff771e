import { expect, it } from "vitest";
import { createFailingWebSocket } from "./failing-web-socket.ts";

const FailingWebSocket = createFailingWebSocket(() => "https://example.org/dir/");

it("fails asynchronously: error, then close with 1006", async () => {
  const socket = new FailingWebSocket("/live");
  const events: string[] = [];
  socket.onerror = (event) => events.push(`on${event.type}`);
  socket.addEventListener("error", (event) => events.push(event.type));
  expect(socket.url).toBe("wss://example.org/live");
  expect(socket.readyState).toBe(FailingWebSocket.CONNECTING);
  const closed = await new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  expect(events).toEqual(["error", "onerror"]);
  expect([closed.code, closed.wasClean, socket.readyState]).toEqual([1006, false, 3]);
  expect(() => socket.send("late")).not.toThrow();
});

it("throws what the standard says", () => {
  for (const url of ["ftp://a.example", "wss://a.example/#f", "wss://"])
    expect(() => new FailingWebSocket(url)).toThrow(expect.objectContaining({ name: "SyntaxError" }));
  for (const protocols of ["a b", ["a", "A"], [""]])
    expect(() => new FailingWebSocket("/", protocols)).toThrow(expect.objectContaining({ name: "SyntaxError" }));
  const socket = new FailingWebSocket("ws://a.example", ["chat"]);
  expect(() => socket.send("early")).toThrow(expect.objectContaining({ name: "InvalidStateError" }));
  expect(() => socket.close(1001)).toThrow(expect.objectContaining({ name: "InvalidAccessError" }));
  expect(() => socket.close(3000, "x".repeat(124))).toThrow(expect.objectContaining({ name: "SyntaxError" }));
  socket.close(1000);
  expect(socket.readyState).toBe(FailingWebSocket.CLOSING);
});
