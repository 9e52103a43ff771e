import { expect, it } from "vitest";
import { MapStorage } from "../testing/map-storage.ts";
import { storeAccept, storedAccept } from "./remembered.ts";

it("is kept until the browser is another", () => {
  const storage = new MapStorage();
  const browser = { userAgent: "Firefox/153" };
  expect(storedAccept(storage, browser)).toBeNull();
  storeAccept(storage, { image: "image/*" }, browser);
  expect(storedAccept(storage, browser)).toEqual({ image: "image/*" });
  expect(storedAccept(storage, { userAgent: "Firefox/154" })).toBeNull();
});
