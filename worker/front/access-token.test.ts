import { describe, expect, it, vi } from "vitest";
import { equalSecrets, issueToken, verifyToken } from "./access-token.ts";

const KEY = "an access key";

describe("access tokens", () => {
  it("names the device that it was issued for, and a new one each time", async () => {
    const [first, second] = [await issueToken(KEY), await issueToken(KEY)];
    const devices = [await verifyToken(KEY, first), await verifyToken(KEY, second)];
    expect(devices[0]).toMatch(/^[\w-]{22}$/);
    expect(devices[1]).toMatch(/^[\w-]{22}$/);
    expect(devices[0]).not.toBe(devices[1]);
    expect(first.startsWith(`${devices[0]}.`)).toBe(true);
  });

  it("is a valid WebSocket subprotocol value and does not contain the key", async () => {
    const token = await issueToken(KEY);
    expect(token).toMatch(/^[\w-]{22}\.[\w-]{43}$/);
    expect(token).not.toContain(KEY);
  });

  it("needs no cryptography once it was verified, and is still void under another key", async () => {
    const token = await issueToken(KEY);
    const device = await verifyToken(KEY, token);
    const sign = vi.spyOn(crypto.subtle, "sign");
    expect(await verifyToken(KEY, token)).toBe(device);
    expect(sign).not.toHaveBeenCalled();
    sign.mockRestore();
    expect(await verifyToken("another key", token)).toBeNull();
    expect(await verifyToken(KEY, `${token}A`)).toBeNull();
  });

  it("is void under another key", async () => {
    expect(await verifyToken("another key", await issueToken(KEY))).toBeNull();
  });

  it("does not accept any change", async () => {
    const token = await issueToken(KEY);
    const [device = "", signature = ""] = token.split(".");
    const other = (await issueToken(KEY)).split(".")[0] ?? "";
    for (const forged of [
      "",
      ".",
      device,
      `${device}.`,
      `.${signature}`,
      `${other}.${signature}`,
      `${token}.`,
      `${token}A`,
      `${device}.${signature.slice(0, -1)}`,
      `${device}.${signature.toLowerCase()}`,
      `${device}é.${signature}`,
      `../../${device}.${signature}`,
      token.replace(".", ""),
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
