import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

/** Tests that run inside workerd, with the bindings of wrangler.toml. */
export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: "./wrangler.toml" },
      miniflare: {
        bindings: {
          ROPEWAY_ACCESS_KEY: "test-access-key-of-32-characters",
          ROPEWAY_HOST: "ropeway.test",
          ROPEWAY_ALLOW_PRIVATE: "1",
        },
      },
    }),
  ],
  test: {
    include: ["worker/**/*.workerd.test.ts"],
    testTimeout: 30_000,
  },
});
