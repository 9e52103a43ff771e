import { describe, expect, it, vi } from "vitest";
import { equalSecrets, issueToken, newDeviceId, verifyToken } from "./device-token.ts";

const KEY = "an access key";
const newDevice = (isGuest = false) => ({ deviceId: newDeviceId(), isGuest });
const fresh = async (accessKey = KEY) => issueToken(accessKey, newDevice());

/** A device, and a signature of it with KEY alone. */
const WITHOUT_SECRET = "AAAAAAAAAAAAAAAAAAAAAA.YhR-ncSko74YwdBGrnJMtxDTZSJdU171xTWP6JIhnoM";

describe("device tokens", () => {
  it("names the device that it was issued for, with a secret of its own each time", async () => {
    const device = newDevice();
    const [first, second] = [await issueToken(KEY, device), await issueToken(KEY, device)];
    expect(await verifyToken(KEY, first.token)).toEqual({ ...device, secretHash: first.secretHash });
    expect(await verifyToken(KEY, second.token)).toEqual({ ...device, secretHash: second.secretHash });
    expect(first.secretHash).not.toBe(second.secretHash);
    expect(first.token.startsWith(`${device.deviceId}.`)).toBe(true);
    expect(newDeviceId()).not.toBe(device.deviceId);
  });

  it("says of a guest that it is one", async () => {
    const guest = newDevice(true);
    const { token, secretHash } = await issueToken(KEY, guest);
    expect(await verifyToken(KEY, token)).toEqual({ ...guest, secretHash });
  });

  it("is a valid WebSocket subprotocol value, and has neither the key in it nor what is stored", async () => {
    const { token, secretHash } = await fresh();
    expect(token).toMatch(/^[\w-]{22}\.[\w-]{22}\.[\w-]{22}$/);
    expect(token).not.toContain(KEY);
    expect(token).not.toContain(secretHash);
  });

  it("needs no cryptography once it was verified, and is still void under another key", async () => {
    const { token } = await fresh();
    const device = await verifyToken(KEY, token);
    const sign = vi.spyOn(crypto.subtle, "sign");
    expect(await verifyToken(KEY, token)).toBe(device);
    expect(sign).not.toHaveBeenCalled();
    sign.mockRestore();
    expect(await verifyToken("another key", token)).toBeNull();
    expect(await verifyToken(KEY, `${token}A`)).toBeNull();
  });

  it("is void under another key", async () => {
    expect(await verifyToken("another key", (await fresh()).token)).toBeNull();
  });

  it("does not accept any change", async () => {
    const { token } = await fresh();
    const [device = "", secret = "", signature = ""] = token.split(".");
    const [otherDevice = "", otherSecret = ""] = (await fresh()).token.split(".");
    for (const forged of [
      "",
      ".",
      "..",
      device,
      `${device}.`,
      `${device}.${secret}`,
      `${device}.${signature}`,
      `${device}..${signature}`,
      `.${secret}.${signature}`,
      `${otherDevice}.${secret}.${signature}`,
      `${device}.${otherSecret}.${signature}`,
      `${token}.`,
      `${token}A`,
      `${device}.${secret}.${signature.slice(0, -1)}`,
      `${device}.${secret}.${signature.toLowerCase()}`,
      `${device}é.${secret}.${signature}`,
      `../../${device}.${secret}.${signature}`,
      WITHOUT_SECRET,
      `${WITHOUT_SECRET}A`,
      WITHOUT_SECRET.replace(".", ".B").slice(0, -1),
    ]) {
      expect(await verifyToken(KEY, forged), forged).toBeNull();
    }
  });
});

describe("comparing secrets", () => {
  it("tells equal from unequal, whatever their lengths", async () => {
    expect(await equalSecrets("", "")).toBe(true);
    expect(await equalSecrets("höhe", "höhe")).toBe(true);
    expect(await equalSecrets("abc", "abd")).toBe(false);
    expect(await equalSecrets("abc", "abcd")).toBe(false);
    expect(await equalSecrets("abc", "")).toBe(false);
  });
});
