import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetFile } from "./router.ts";

const fileOf = (path: string) => assetFile(new URL(`https://ropeway.example${path}`).pathname);

describe("files of the app by URL path", () => {
  it.each([
    ["/", "index.html"],
    ["/assets/shell.js", "assets/shell.js"],
    ["/.ropeway/boot", ".ropeway/boot.html"],
    ["/.ropeway/sw.js?x#y", ".ropeway/sw.js"],
    ["/a%20b.png", "a b.png"],
    ["/a/../b.js", "b.js"],
  ])("%s is %s", (path, file) => {
    expect(fileOf(path)).toBe(file);
  });

  it.each(["/..%2f..%2fetc/passwd", "/%2e%2e%2fx", "/a/..%2f..%2fx", "/%2fetc/passwd", "//etc/passwd", "/..%5cx"])(
    "%s is none",
    (path) => {
      expect(fileOf(path)).toBeNull();
    },
  );

  it("is none for what cannot be decoded, or ends in a NUL", () => {
    expect(assetFile("/%ff")).toBeNull();
    expect(assetFile("/a.js%00")).toBeNull();
  });

  it("never leaves the directory", () => {
    const part = fc.constantFrom("..", "%2e", "%2F", "/", "\\", "a", ".", "%5c", "%", "%00");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const file = assetFile(`/${parts.join("")}`);
        if (file === null) return;
        expect(new URL(file, "file:///app/").pathname.startsWith("/app/")).toBe(true);
        expect(file.split(/[/\\]/)).not.toContain("..");
      }),
    );
  });
});
