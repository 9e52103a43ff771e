/** The four application classes of HTTP/2-Advance as a model: pure and seeded. README.md has its numbers' sources. */

import type { Behaviour, Workload } from "../behaviour.ts";
import { browserBehaviours } from "./application-browser.ts";
import { newspaperBehaviours } from "./application-newspaper.ts";
import { socialBehaviours } from "./application-social.ts";
import { videoBehaviours } from "./application-video.ts";
import { ModelRandom } from "./model-random.ts";

export const APPLICATIONS = ["browser", "newspaper", "video", "social"] as const;

export type Application = (typeof APPLICATIONS)[number];

export const VARIANTS = ["full", "short"] as const;

/** "full": about 20 s on a network that takes no time. "short": under 4 s, for smoke and quick runs. */
export type Variant = (typeof VARIANTS)[number];

/** Seed of the files that are shipped. */
export const SHIPPED_SEED = 1;

/** The paper's words for each class. */
export const FLOWS: Readonly<Record<Application, string>> = {
  browser: "intermittent connections, random flow",
  newspaper: "intermittent connections, light flow",
  video: "persistent connections, heavy flow",
  social: "persistent connections, light flow",
};

const MODELS: Readonly<Record<Application, Readonly<Record<Variant, (random: ModelRandom) => readonly Behaviour[]>>>> =
  {
    browser: {
      full: (random) => browserBehaviours(random, { pages: 4, images: 18, reading: 5_000 }),
      short: (random) => browserBehaviours(random, { pages: 2, images: 8, reading: 600 }),
    },
    newspaper: {
      full: (random) => newspaperBehaviours(random, { articles: 24, pictures: 18, readings: 4, reading: 4_500 }),
      short: (random) => newspaperBehaviours(random, { articles: 8, pictures: 5, readings: 1, reading: 800 }),
    },
    video: {
      full: (random) => videoBehaviours(random, { ahead: 5, steady: 9, pace: 2_000 }),
      short: (random) => videoBehaviours(random, { ahead: 2, steady: 2, pace: 500 }),
    },
    social: {
      full: (random) =>
        socialBehaviours(random, {
          habits: ["login", "refresh", "read", "refresh", "repost", "post", "idle", "read"],
          pause: 1_500,
          signal: 2_500,
        }),
      short: (random) => socialBehaviours(random, { habits: ["login", "refresh", "repost"], pause: 400, signal: 700 }),
    },
  };

export function workloadName(application: Application, variant: Variant): string {
  return variant === "full" ? application : `${application}-${variant}`;
}

/** Of all workloads that ship. */
export const CLASS_NAMES: readonly string[] = APPLICATIONS.flatMap((name) =>
  VARIANTS.map((each) => workloadName(name, each)),
);

export function makeWorkload(application: Application, variant: Variant, seed: number): Workload {
  const name = workloadName(application, variant);
  return { name, behaviours: MODELS[application][variant](new ModelRandom(name, seed)) };
}
