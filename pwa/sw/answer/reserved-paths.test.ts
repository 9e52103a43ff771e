import { expect, it } from "vitest";
import { answerReserved } from "./reserved-paths.ts";

const hosts = { shellOrigin: "http://localhost:8787", slotSources: "http://*.localhost:8787" };
const answerTo = (path: string, isNavigation: boolean) =>
  answerReserved(new URL(path, "http://s1.localhost:8787"), hosts, isNavigation);

it("answers the place where windows meet with an empty document that connects to nothing of its own", async () => {
  const answer = answerTo("/.ropeway/meeting?1", true);
  expect([answer.status, await answer.text()]).toEqual([200, "<!doctype html>"]);
  expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
  expect(answer.headers.get("connection-allowlist")).toMatch(/webrtc=block$/);
});

it("shows no other path of the app's as a document", () => {
  expect(answerTo("/.ropeway/other", true).status).toBe(204);
  expect(answerTo("/.ropeway/other", false).status).toBe(404);
});
