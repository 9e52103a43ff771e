import { defineConfig } from "@playwright/test";
import { CHROMIUM_ARGS, DESK, findHeadlessChromium, PHONE } from "./e2e/fixtures/chromium.ts";

const executablePath = findHeadlessChromium();

/**
 * Tests that also run against the edge on Deno: of each kind of traffic, one. What the edges do with origins is tested on
 * both by worker/contract.
 */
const ON_DENO = /@deno/;

/** Tests of what keeps sites apart, which also run where slots have a list of hosts. Only `npm run test:long` has them. */
const ON_A_LIST =
  /(isolation|frames|embeds|same-site|past-the-worker|permissions|referrer-origin|messages|window-name)\.spec\.ts$/;

export default defineConfig<object, { runtime: "workerd" | "deno"; slotHosts: string }>({
  testDir: "e2e/specs",
  outputDir: "test-results",
  // They compute more than they wait: three take longer on two cores.
  workers: 2,
  // For tests that hang: beside other work on both cores the longest take a minute.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: "list",
  forbidOnly: true,
  use: {
    ...PHONE,
    serviceWorkers: "allow",
    launchOptions: { args: CHROMIUM_ARGS, ...(executablePath === undefined ? {} : { executablePath }) },
    // A trace costs each test, also those that pass; `--trace retain-on-failure` has one of what is repeated.
    screenshot: "only-on-failure",
  },
  projects: [
    { name: "workerd", use: { runtime: "workerd" } },
    { name: "deno", use: { runtime: "deno" }, grep: ON_DENO },
    { name: "listed", use: { runtime: "workerd", slotHosts: "s[1-8].ropeway.localhost" }, testMatch: ON_A_LIST },
    {
      name: "applications",
      testDir: "e2e/applications",
      // Some lay out their pages for a desk only.
      use: { runtime: "workerd", ...DESK, actionTimeout: 90_000 },
      expect: { timeout: 90_000 },
      timeout: 600_000,
    },
  ],
});
