/** Intermittent connections with light flow: a newspaper app downloads today's issue, then idles while it is read. */
import type { Behaviour } from "../behaviour.ts";
import { BehaviourBuilder } from "./behaviour-builder.ts";
import type { ModelRandom } from "./model-random.ts";

const ISSUES = "https://issues.newspaper.test";
const PICTURES = "https://pictures.newspaper.test";

export interface NewspaperShape {
  readonly articles: number;
  readonly pictures: number;
  /** Times that the person turns a page, which is reported. */
  readonly readings: number;
  /** Median milliseconds of reading in between; nothing is sent meanwhile. */
  readonly reading: number;
}

export function newspaperBehaviours(random: ModelRandom, shape: NewspaperShape): readonly Behaviour[] {
  const behaviours = [login(random), download(random, shape)];
  for (let reading = 0; reading < shape.readings; reading++) behaviours.push(read(random, shape, reading));
  return behaviours;
}

function login(random: ModelRandom): Behaviour {
  const behaviour = new BehaviourBuilder("login", 0);
  behaviour.add({
    url: `${ISSUES}/session`,
    method: "POST",
    requestHead: random.around(720, 0.1),
    requestBody: random.around(260, 0.2),
    responseHead: random.around(500, 0.1),
    responseBody: random.around(800, 0.3),
  });
  return behaviour.build();
}

function download(random: ModelRandom, shape: NewspaperShape): Behaviour {
  const behaviour = new BehaviourBuilder("refresh", 100);
  const contents = behaviour.add({
    url: `${ISSUES}/issue/today.json`,
    requestHead: random.around(740, 0.1),
    responseHead: random.around(420, 0.1),
    responseBody: random.around(9_000, 0.3),
  });
  for (let article = 0; article < shape.articles; article++) {
    behaviour.add({
      url: `${ISSUES}/article/${article}.json`,
      after: [contents],
      think: 20,
      requestHead: random.around(740, 0.1),
      responseHead: random.around(380, 0.1),
      responseBody: random.around(5_000, 0.6),
    });
  }
  for (let picture = 0; picture < shape.pictures; picture++) {
    behaviour.add({
      url: `${PICTURES}/${picture}.webp`,
      after: [contents],
      think: 20,
      requestHead: random.around(600, 0.1),
      responseHead: random.around(350, 0.1),
      responseBody: random.around(24_000, 0.6),
    });
  }
  return behaviour.build();
}

function read(random: ModelRandom, shape: NewspaperShape, reading: number): Behaviour {
  const behaviour = new BehaviourBuilder("read", random.around(shape.reading, 0.3));
  const report = behaviour.add({
    url: `${ISSUES}/read/${reading}`,
    method: "POST",
    requestHead: random.around(740, 0.1),
    requestBody: random.around(220, 0.2),
    responseHead: random.around(300, 0.1),
    responseBody: random.around(40, 0.1),
  });
  behaviour.add({
    url: `${ISSUES}/issue/changes.json?since=${reading}`,
    after: [report],
    requestHead: random.around(740, 0.1),
    responseHead: random.around(350, 0.1),
    responseBody: random.around(300, 0.5),
  });
  return behaviour.build();
}
