/** Intermittent connections with random flow: a person browses a site, pages of any size at any time. */
import type { Behaviour } from "../behaviour.ts";
import { BehaviourBuilder } from "./behaviour-builder.ts";
import type { ModelRandom } from "./model-random.ts";

const SITE = "https://www.browser.test";
const STATIC = "https://static.browser.test";
const STATISTICS = "https://stats.browser.test";

export interface BrowserShape {
  /** Pages visited. */
  readonly pages: number;
  /** Median of what a page has beyond its document, styles and scripts. */
  readonly images: number;
  /** Median milliseconds between the end of a page and the next. */
  readonly reading: number;
}

export function browserBehaviours(random: ModelRandom, shape: BrowserShape): readonly Behaviour[] {
  return Array.from({ length: shape.pages }, (_, page) => {
    const behaviour = new BehaviourBuilder("visit", page === 0 ? 0 : random.around(shape.reading, 0.6));
    const document = behaviour.add({
      url: `${SITE}/page-${page}`,
      requestHead: random.around(900, 0.15),
      responseHead: random.around(600, 0.2),
      responseBody: random.around(18_000, 0.6),
    });
    // What the pages of the site share is in the browser's cache after the first.
    const isFirst = page === 0;
    const styles = Array.from({ length: isFirst ? 2 : 0 }, (_each, index) =>
      behaviour.add({
        url: `${STATIC}/style-${index}.css`,
        after: [document],
        think: 10,
        requestHead: random.around(560, 0.05),
        responseHead: random.around(350, 0.2),
        responseBody: random.around(12_000, 0.6),
      }),
    );
    for (let index = 0; index < (isFirst ? 4 : 1); index++) {
      behaviour.add({
        url: `${STATIC}/script-${page}-${index}.js`,
        after: [document],
        think: 10,
        requestHead: random.around(540, 0.05),
        responseHead: random.around(350, 0.2),
        responseBody: random.around(20_000, 0.8),
      });
    }
    if (styles.length > 0) {
      behaviour.add({
        url: `${STATIC}/font.woff2`,
        after: styles,
        think: 20,
        requestHead: random.around(560, 0.05),
        responseHead: random.around(350, 0.2),
        responseBody: random.around(22_000, 0.3),
      });
    }
    const images = random.around(shape.images, 0.5);
    for (let index = 0; index < images; index++) {
      behaviour.add({
        url: `${index % 3 === 0 ? SITE : STATIC}/image-${page}-${index}.webp`,
        after: [document],
        think: random.between(15, 120),
        requestHead: random.around(620, 0.1),
        responseHead: random.around(350, 0.2),
        responseBody: random.around(8_000, 1),
      });
    }
    const statistics = behaviour.add({
      url: `${STATISTICS}/collect`,
      method: "POST",
      after: [document],
      think: 150,
      requestHead: random.around(560, 0.05),
      requestBody: random.around(700, 0.3),
      responseHead: random.around(300, 0.1),
      responseBody: 0,
    });
    behaviour.add({
      url: `${SITE}/related.json`,
      after: [statistics],
      think: 50,
      requestHead: random.around(900, 0.1),
      responseHead: random.around(450, 0.2),
      responseBody: random.around(3_000, 0.6),
    });
    return behaviour.build();
  });
}
