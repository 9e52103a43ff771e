import { describe, expect, it } from "vitest";
import { frameUrl } from "./slot-services.ts";

describe("frameUrl", () => {
  it.each(["https://a.example/x?y#z", "http://127.0.0.1:8080/", `https://${"a.".repeat(126)}b/`])("takes %s", (url) => {
    expect(frameUrl(url)?.href).toBe(url);
  });

  it.each(["", "a.example", "about:blank", "data:text/html,x", "blob:https://a.example/1", "ftp://a.example/", "a:b"])(
    "takes no %j",
    (url) => expect(frameUrl(url)).toBeNull(),
  );

  it("takes no host that is longer than any name", () => {
    expect(frameUrl(`https://${"a.".repeat(127)}b/`)).toBeNull();
  });
});
