import { describe, expect, it } from "vitest";
import { IconLoader } from "./tab.ts";

const PAGE = "https://page.example";

describe("the icon of a page", () => {
  it("is asked for once for each address", async () => {
    const asked: string[] = [];
    const icons = new IconLoader(async (url) => {
      asked.push(url);
      return `data:image/png,${url}`;
    });
    expect(await icons.load(`${PAGE}/a.png`, PAGE)).toBe(`data:image/png,${PAGE}/a.png`);
    expect(await icons.load(`${PAGE}/a.png`, PAGE)).toBeNull();
    icons.forget();
    expect(await icons.load(`${PAGE}/a.png`, PAGE)).not.toBeNull();
    expect(asked).toEqual([`${PAGE}/a.png`, `${PAGE}/a.png`]);
  });

  it("is asked of nobody where the page brings it, or says `data:,` for none", async () => {
    const icons = new IconLoader(() => Promise.reject(new Error("Asked")));
    expect(await icons.load("data:image/svg+xml,<svg/>", PAGE)).toBe("data:image/svg+xml,<svg/>");
    expect(await icons.load("data:,", PAGE)).toBeNull();
    expect(await icons.load(`data:image/png;base64,${"A".repeat(1_000_000)}`, PAGE)).toBeNull();
  });

  it("is not shown where another is wanted by the time it comes", async () => {
    let give = (_icon: string) => {};
    const icons = new IconLoader((url) =>
      url.endsWith("late.png")
        ? new Promise((resolve) => {
            give = resolve;
          })
        : Promise.resolve(`data:image/png,${url}`),
    );
    const late = icons.load(`${PAGE}/late.png`, PAGE);
    await icons.load(`${PAGE}/next.png`, PAGE);
    give("data:image/png,late");
    expect(await late).toBeNull();
  });
});
