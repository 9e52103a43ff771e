/** Persistent connections with light flow: a social feed, small fetches between signals that say who is there. */
import type { Behaviour } from "../behaviour.ts";
import { BehaviourBuilder } from "./behaviour-builder.ts";
import type { ModelRandom } from "./model-random.ts";

const API = "https://api.social.test";
const PICTURES = "https://pictures.social.test";

export interface SocialShape {
  readonly habits: readonly SocialHabit[];
  /** Median milliseconds between two behaviours. */
  readonly pause: number;
  /** Milliseconds between two signals of state. */
  readonly signal: number;
}

export type SocialHabit = "login" | "refresh" | "read" | "post" | "repost" | "idle";

export function socialBehaviours(random: ModelRandom, shape: SocialShape): readonly Behaviour[] {
  return shape.habits.map((habit, position) => {
    const behaviour = new BehaviourBuilder(habit, position === 0 ? 0 : random.around(shape.pause, 0.4));
    HABITS[habit](behaviour, random, shape, position);
    return behaviour.build();
  });
}

type AddRequests = (behaviour: BehaviourBuilder, random: ModelRandom, shape: SocialShape, position: number) => void;

const HABITS: Readonly<Record<SocialHabit, AddRequests>> = {
  login(behaviour, random) {
    const session = call(behaviour, random, "session", { sent: 420, answer: 1_400 });
    call(behaviour, random, "settings", { after: [session], think: 10, answer: 2_200 });
    call(behaviour, random, "unread", { after: [session], think: 10, answer: 250 });
  },

  refresh(behaviour, random, shape, position) {
    const timeline = call(behaviour, random, `timeline?page=${position}`, { answer: 9_000 });
    for (let face = 0; face < 6; face++) picture(behaviour, random, `face-${position}-${face}`, timeline, 2_600);
    for (let photo = 0; photo < 3; photo++) picture(behaviour, random, `photo-${position}-${photo}`, timeline, 22_000);
    signal(behaviour, random, timeline, shape.signal);
  },

  read(behaviour, random, _shape, position) {
    const entry = call(behaviour, random, `entry/${position}`, { answer: 3_500 });
    call(behaviour, random, `entry/${position}/comments`, { after: [entry], think: 10, answer: 4_000 });
    picture(behaviour, random, `large-${position}`, entry, 60_000);
  },

  post(behaviour, random, _shape, position) {
    const upload = call(behaviour, random, `media?for=${position}`, { sent: 70_000, answer: 300 });
    const entry = call(behaviour, random, "entry", { after: [upload], think: 300, sent: 650, answer: 1_200 });
    call(behaviour, random, "timeline?mine", { after: [entry], think: 20, answer: 5_000 });
  },

  repost(behaviour, random, _shape, position) {
    const repost = call(behaviour, random, `entry/${position}/repost`, { sent: 180, answer: 900 });
    call(behaviour, random, `entry/${position}/counts`, { after: [repost], think: 20, answer: 200 });
  },

  idle(behaviour, random, shape) {
    let last = call(behaviour, random, "state?n=0", { sent: 160, answer: 90 });
    for (let count = 1; count < 3; count++) last = signal(behaviour, random, last, shape.signal, count);
  },
};

function call(
  behaviour: BehaviourBuilder,
  random: ModelRandom,
  path: string,
  options: { after?: readonly number[]; think?: number; sent?: number; answer: number },
): number {
  return behaviour.add({
    url: `${API}/${path}`,
    method: options.sent === undefined ? "GET" : "POST",
    after: options.after ?? [],
    think: options.think ?? 0,
    requestHead: random.around(780, 0.1),
    requestBody: options.sent === undefined ? 0 : random.around(options.sent, 0.3),
    responseHead: random.around(450, 0.1),
    responseBody: random.around(options.answer, 0.4),
  });
}

function signal(behaviour: BehaviourBuilder, random: ModelRandom, after: number, think: number, count = 1): number {
  return call(behaviour, random, `state?n=${count}`, { after: [after], think, sent: 160, answer: 90 });
}

function picture(behaviour: BehaviourBuilder, random: ModelRandom, name: string, after: number, size: number): void {
  behaviour.add({
    url: `${PICTURES}/${name}.webp`,
    after: [after],
    think: random.between(15, 80),
    requestHead: random.around(600, 0.05),
    responseHead: random.around(360, 0.1),
    responseBody: random.around(size, 0.5),
  });
}
