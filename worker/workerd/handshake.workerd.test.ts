/** What a handshake waits for (decision 29), in workerd: an object that was asked is there to be evicted. */
import { env, evictDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import { issueToken, newDeviceId } from "../devices/device-token.ts";
import { openSocket, pairDevice } from "../testing/object-device.workerd.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

const { DIRECTORY, ROPEWAY_ACCESS_KEY = "" } = env as unknown as WorkerEnvironment;
const directory = DIRECTORY.get(DIRECTORY.idFromName("devices"));

it("a phone that is paired comes in without the list of devices being asked, also after its object was evicted", async () => {
  const { token, stub } = await pairDevice();
  // It has paired the phone.
  await evictDurableObject(directory);
  (await openSocket(token)).close(1000, "seen");
  await vi.waitFor(() => evictDurableObject(stub), 20_000);
  await openSocket(token);
  await expect(evictDurableObject(directory)).rejects.toThrow();
});

it("a phone whose object knows nothing of it has the list of devices asked", async () => {
  const { token } = await issueToken(ROPEWAY_ACCESS_KEY, { deviceId: newDeviceId(), isGuest: false });
  await openSocket(token);
  await evictDurableObject(directory);
});
