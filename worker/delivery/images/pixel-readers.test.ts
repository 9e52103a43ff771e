import { describe, expect, it } from "vitest";
import type { ImageWish, RequestHead } from "../../../shared/http/heads.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { navigation, requestHead } from "../../../shared/testing/http/request-heads.ts";
import { PixelReaders } from "./image-stage.ts";

const SITE = "https://site.example";
const OTHER = "https://other.example";
const BALANCED: ImageWish = { recoding: "balanced", most: 5000 };
const script: RequestHead = {
  ...requestHead,
  url: `${OTHER}/lib.js`,
  destination: "script",
  mode: "no-cors",
  origin: SITE,
  topLevelOrigin: SITE,
};
const picture = (url: string, origin = SITE): RequestHead => ({ ...script, destination: "image", url, origin });

/** What pictures are wished for when a response has passed, piece by piece. */
function passed(request: RequestHead, pieces: readonly string[], type = "text/html; charset=utf-8") {
  const readers = new PixelReaders();
  const seen: string[] = [];
  const observe = readers.watching(
    request,
    () => (chunk) => void seen.push(chunk === null ? "END" : new TextDecoder().decode(chunk)),
  )({
    ...responseHead,
    url: request.url,
    headers: [["content-type", type]],
  });
  for (const piece of pieces) observe?.(new TextEncoder().encode(piece));
  observe?.(null);
  expect(seen).toEqual([...pieces, "END"]);
  return (head: RequestHead) => readers.wishFor(head, BALANCED).recoding;
}

describe("pages whose scripts may read pixels", () => {
  it.each([
    ["an inline script", navigation(`${SITE}/page`), ["<script>c.drawImage(i, 0, 0)</script>"]],
    ["a script of another origin", script, ["gl.texSubImage2D(", "x)"]],
    ["a name in two pieces", script, ["await createImage", "Bitmap(img)"]],
    ["a name in many pieces", script, [..."c.drawImage(i)"]],
  ] as const)("get those of their own origin as they are: %s", (_, request, pieces) => {
    const wish = passed(request, pieces);
    expect([
      wish(picture(`${SITE}/a.png`)),
      wish(picture(`${OTHER}/a.png`)),
      wish(picture(`${OTHER}/a.png`, OTHER)),
    ]).toEqual(["none", "balanced", "balanced"]);
  });

  it("are no others", () => {
    for (const text of ["c.fillRect(0, 0)", "draw Image", "drawimage"]) {
      expect(passed(script, [text])(picture(`${SITE}/a.png`))).toBe("balanced");
    }
    const text = navigation(`${SITE}/source.txt`);
    expect(passed(text, ["drawImage"], "text/plain")(picture(`${SITE}/a.png`))).toBe("balanced");
    expect(passed({ ...script, destination: "" }, ["drawImage"])(picture(`${SITE}/a.png`))).toBe("balanced");
  });

  it("keep the most that a picture may have", () => {
    const readers = new PixelReaders();
    readers.watching(script, null)(responseHead)?.(new TextEncoder().encode("drawImage"));
    expect(readers.wishFor(picture(`${SITE}/a.png`), BALANCED)).toEqual({ recoding: "none", most: 5000 });
  });
});
