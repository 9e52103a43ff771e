import { expect, it } from "vitest";
import { chooseHost, type ListedHost } from "./slot-hosts.ts";

const SITE = { isFrame: false, isAsked: false };
const FRAME = { isFrame: true, isAsked: false };

function host(label: string, usedAt: number, kind: "site" | "frame" | "none" = "site"): ListedHost {
  const origin = `https://${label}.example`;
  const slot = { label, origin, topLevelOrigin: kind === "site" ? origin : "https://top.example" };
  return { label, usedAt, owner: kind === "none" ? null : { ...slot, topLevel: kind === "site" } };
}

const chosen = (hosts: readonly ListedHost[], wish = SITE, isFree: (host: ListedHost) => boolean = () => true) =>
  chooseHost(hosts, wish, isFree)?.label ?? null;

it("takes the least recently used, and none that is not free", () => {
  const hosts = [host("a", 3), host("b", 1), host("c", 2, "frame")];
  expect(chosen(hosts)).toBe("b");
  expect(chosen(hosts, SITE, ({ label }) => label !== "b")).toBe("c");
  expect(chosen(hosts, SITE, () => false)).toBeNull();
});

it("takes one without an owner first, whenever it was used", () => {
  expect(chosen([host("a", 1), host("b", 9, "none"), host("c", 2)])).toBe("b");
});

it("gives frames half of the hosts, then one another's, and more only to a tap", () => {
  const hosts = [host("a", 1), host("b", 4, "frame"), host("c", 3, "frame"), host("d", 2)];
  expect(chosen(hosts, FRAME)).toBe("c");
  expect(chosen(hosts, FRAME, ({ owner }) => owner?.topLevel !== false)).toBeNull();
  expect(chosen(hosts, { isFrame: true, isAsked: true })).toBe("a");
  expect(chosen([...hosts, host("e", 5), host("f", 6)], FRAME)).toBe("a");
});
