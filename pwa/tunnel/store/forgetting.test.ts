import { expect, it } from "vitest";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { forgottenBy } from "./stored-source.ts";

it("forgets all with all site data, and nothing with other messages", () => {
  expect(forgottenBy({ url: EdgeRequest.SITE_DATA, headers: [] })?.("https://a.example https://a.example")).toBe(true);
  expect(forgottenBy({ url: EdgeRequest.SCRIPT_COOKIE, headers: [] })).toBeNull();
  expect(forgottenBy({ url: "https://a.example/", headers: [["host-name", "a.example"]] })).toBeNull();
});

it.each([
  ["https://a.example https://a.example", true],
  ["http://www.a.example http://www.a.example", true],
  ["https://a.example https://ads.example", true],
  ["https://b.example https://a.example", true],
  ["https://b.example https://b.example", false],
  ["https://a.example:8443 https://a.example:8443", true],
  ["https://nota.example https://nota.example", false],
  ["https://b.example null", false],
])("of %s says %s where a.example goes", (partition, isGone) => {
  expect(forgottenBy({ url: EdgeRequest.SITE, headers: [["host-name", "a.example"]] })?.(partition)).toBe(isGone);
});
