import { describe, expect, it } from "vitest";
import * as limits from "../../../shared/limits.ts";
import { patience, RoadMemory } from "./roads.ts";
import { SOCKET_OPEN_TIMEOUT } from "./socket-keeper.ts";

describe("patience with a road", () => {
  it("ends after a second, and later where round trips or handshakes are long", () => {
    expect(patience(null, null)).toBe(1_000);
    expect(patience(50, 180)).toBe(1_000);
    expect(patience(800, null)).toBe(2_400);
    expect(patience(100, 4_000)).toBe(6_000);
    expect(patience(60_000, null)).toBe(10_000);
  });

  it("leaves time for the other road before the link gives up", () => {
    expect(patience(60_000, 60_000)).toBeLessThanOrEqual(SOCKET_OPEN_TIMEOUT / 2);
  });
});

describe("the road that is tried first", () => {
  it("is WebSocket, until it fails where the fetch road opens", () => {
    const memory = new RoadMemory();
    expect(memory.first("wifi")).toBe("websocket");
    expect(memory.retryAt("wifi")).toBeNull();
    memory.webSocketFailed("wifi", "refused", 1_000, 0);
    expect(memory.first("wifi")).toBe("fetch");
    expect(memory.retryAt("wifi")).toBe(31_000);
    expect(memory.first("cellular")).toBe("websocket");
    memory.webSocketWorked("wifi");
    expect(memory.first("wifi")).toBe("websocket");
  });

  it("is tried again soon where WebSocket failed once, and later when it did again", () => {
    const memory = new RoadMemory();
    memory.webSocketFailed("", "slow", 0, 0);
    expect(memory.retryAt("")).toBe(30_000);
    memory.webSocketFailed("", "slow", 40_000, 0);
    expect(memory.retryAt("")).toBe(40_000 + limits.webSocketRetryTime);
  });

  it("is spread by chance", () => {
    const memory = new RoadMemory();
    memory.webSocketFailed("", "refused", 0, 1);
    expect(memory.retryAt("")).toBe(36_000);
    memory.webSocketFailed("", "refused", 0, 1);
    expect(memory.retryAt("")).toBe(limits.webSocketRetryTime * 1.2);
  });

  it("is the fetch road after two WebSockets in a row on which nothing came", () => {
    const memory = new RoadMemory();
    memory.webSocketFailed("", "mute", 0, 0);
    memory.webSocketHeard();
    memory.webSocketFailed("", "mute", 0, 0);
    expect(memory.first("")).toBe("websocket");
    memory.webSocketFailed("", "mute", 0, 0);
    expect([memory.first(""), memory.retryAt("")]).toEqual(["fetch", limits.webSocketRetryTime]);
  });

  it("is WebSocket again when the fetch road fails, and is due at once when the network changes", () => {
    const memory = new RoadMemory();
    memory.webSocketFailed("", "refused", 0, 0);
    memory.networkChanged("", 7);
    expect([memory.first(""), memory.retryAt("")]).toEqual(["fetch", 7]);
    memory.networkChanged("another", 7);
    expect(memory.retryAt("another")).toBeNull();
    memory.fetchFailed("");
    expect(memory.first("")).toBe("websocket");
  });

  it("is remembered of few networks", () => {
    const memory = new RoadMemory();
    for (let index = 0; index < 100; index += 1) memory.webSocketFailed(`network ${index}`, "refused", index, 0);
    expect(memory.first("network 0")).toBe("websocket");
    expect(memory.first("network 99")).toBe("fetch");
  });
});
