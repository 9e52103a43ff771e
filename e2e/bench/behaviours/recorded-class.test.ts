import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHIPPED_FILES } from "./make-files.ts";
import { recordedClass } from "./recorded-class.ts";

function entry(start: number, url: string): object {
  return {
    startedDateTime: new Date(1_700_000_000_000 + start).toISOString(),
    time: 50,
    request: { method: "GET", url, headers: [], headersSize: 400, bodySize: 0 },
    response: {
      status: 200,
      statusText: "OK",
      headers: [],
      headersSize: 200,
      bodySize: 1_000,
      content: { size: 3_000, mimeType: "text/html" },
    },
  };
}

describe("recordedClass", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "recorded-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("makes a class of a HAR, with hosts that the laboratory can answer for", async () => {
    const file = join(directory, "My Page.har");
    const urls = ["http://www.example.com:8080/a?b", "https://cdn.test/c", "https://[::1]/d"];
    await writeFile(file, JSON.stringify({ log: { entries: urls.map((url, index) => entry(10 * index, url)) } }));
    const { name, url, hosts, plan, bytesDown } = await recordedClass(file);
    expect(name).toBe("my-page");
    expect(hosts).toEqual(["www.example.com.recorded.test", "cdn.test.recorded.test", "1.recorded.test"]);
    expect(url).toBe("https://www.example.com.recorded.test/replay.html?plan=my-page&hold");
    expect(plan.steps.map((step) => new URL(step.url).origin)).toEqual(hosts.map((host) => `https://${host}`));
    expect(plan.steps[0]?.url).toMatch(/\/a\?b$/);
    expect(bytesDown).toBe(3_000);
  });

  it("makes a class of a file of behaviours", async () => {
    const { name, plan } = await recordedClass(join(SHIPPED_FILES, "social-short.tsv"));
    expect(name).toBe("social-short");
    expect(plan.steps.length).toBeGreaterThan(10);
  });

  it("has the median page as it was recorded", async () => {
    const { name, hosts, plan, bytesDown } = await recordedClass(
      join(import.meta.dirname, "recorded", "median-mobile.tsv"),
    );
    expect([name, plan.steps.length, hosts.length]).toEqual(["median-mobile", 66, 8]);
    expect(bytesDown).toBeGreaterThan(2_200_000);
  });

  it("says what it cannot read", async () => {
    await expect(recordedClass("page.txt")).rejects.toThrow("its name ends neither in .har nor in .tsv");
    await expect(recordedClass(join(directory, "none.har"))).rejects.toThrow(/^Cannot read .*none\.har: ENOENT/);
  });
});
