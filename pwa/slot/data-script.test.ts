import { describe, expect, it } from "vitest";
import { dataScript } from "./page-workers.ts";

describe("dataScript", () => {
  it.each([
    ["data:,postMessage(1)", "postMessage(1)"],
    ["data:text/javascript,a%2Cb%20%C3%BC,c", "a,b ü,c"],
    ["DATA:application/javascript;charset=utf-8;base64,cG9zdE1lc3NhZ2UoJ8O8Jyk=", "postMessage('ü')"],
    ["data:text/javascript;base64,MQ%3D%3D#x", "1"],
    [" data:text/javascript,1\n2", "1\n2"],
  ])("reads %j", (url, script) => expect(dataScript(url)).toBe(script));

  it.each(["", "/worker.js", "https://example.org/data:,1", "data:text/javascript", "data:,%zz", "data:;base64,%"])(
    "finds none in %j",
    (url) => expect(dataScript(url)).toBeNull(),
  );
});
