/** Persistent connections with heavy flow: a film in segments of sound and picture, ahead of the player. */
import type { Behaviour } from "../behaviour.ts";
import { BehaviourBuilder } from "./behaviour-builder.ts";
import type { ModelRandom } from "./model-random.ts";

const API = "https://www.video.test";
const MEDIA = "https://media.video.test";
/** Milliseconds of film in one segment. */
const SEGMENT = 2000;
/** kbit/s. */
const PICTURE_RATE = 900;
const SOUND_RATE = 96;

export interface VideoShape {
  /** Segments fetched one after the other before the player is content. */
  readonly ahead: number;
  /** Segments fetched at the player's pace afterwards. */
  readonly steady: number;
  /** Milliseconds between those. */
  readonly pace: number;
}

export function videoBehaviours(random: ModelRandom, shape: VideoShape): readonly Behaviour[] {
  return [open(random), watch(random, shape)];
}

function open(random: ModelRandom): Behaviour {
  const behaviour = new BehaviourBuilder("login", 0);
  const film = behaviour.add({
    url: `${API}/film/7.json`,
    requestHead: random.around(820, 0.1),
    responseHead: random.around(480, 0.1),
    responseBody: random.around(6_000, 0.3),
  });
  const list = behaviour.add({
    url: `${MEDIA}/7/master.m3u8`,
    after: [film],
    think: 30,
    requestHead: random.around(580, 0.05),
    responseHead: random.around(380, 0.1),
    responseBody: random.around(1_800, 0.2),
  });
  for (const track of ["picture", "sound"]) {
    behaviour.add({
      url: `${MEDIA}/7/${track}.m3u8`,
      after: [list],
      think: 5,
      requestHead: random.around(580, 0.05),
      responseHead: random.around(380, 0.1),
      responseBody: random.around(2_600, 0.2),
    });
  }
  return behaviour.build();
}

function watch(random: ModelRandom, shape: VideoShape): Behaviour {
  const behaviour = new BehaviourBuilder("watch", 20);
  let before: number[] = [];
  for (let segment = 0; segment < shape.ahead + shape.steady; segment++) {
    const think = segment < shape.ahead ? 2 : shape.pace;
    const after = before;
    before = [["picture", PICTURE_RATE, 0.25] as const, ["sound", SOUND_RATE, 0.05] as const].map(
      ([track, rate, spread]) =>
        behaviour.add({
          url: `${MEDIA}/7/${track}-${segment}.m4s`,
          after,
          think,
          requestHead: random.around(590, 0.05),
          responseHead: random.around(400, 0.05),
          responseBody: random.around((rate * SEGMENT) / 8, spread),
        }),
    );
    if (segment % 4 === 3) {
      behaviour.add({
        url: `${API}/progress/${segment}`,
        method: "POST",
        after: before,
        think: 100,
        requestHead: random.around(820, 0.1),
        requestBody: random.around(600, 0.2),
        responseHead: random.around(300, 0.1),
        responseBody: random.around(20, 0.1),
      });
    }
  }
  return behaviour.build();
}
