import { describe, expect, test } from "vitest";
import { ScriptedTransport } from "../../testing/mux/scripted-transport.ts";
import {
  attached,
  awaitsHello,
  type ChannelLink,
  type ChannelState,
  detached,
  greeted,
  isCarried,
  isResuming,
  isSettling,
  settled,
  waitingFor,
  wasHeard,
} from "./channel.ts";

type Step = "attach" | "detach" | "hello";

const link: ChannelLink = { kind: "own", transport: new ScriptedTransport() };

function after(steps: readonly Step[]): ChannelState {
  let state: ChannelState = { name: "new", link: null };
  for (const step of steps) {
    if (step === "attach") state = attached(state as Parameters<typeof attached>[0], link);
    else if (state.link === null) throw new Error(`Cannot ${step}: the channel is ${state.name}`);
    else state = step === "detach" ? detached(state) : greeted(state);
  }
  return state;
}

describe("a channel", () => {
  test.each<[steps: Step[], name: ChannelState["name"], heard: boolean, resuming: boolean]>([
    [[], "new", false, false],
    [["attach"], "joining", false, false],
    [["attach", "attach"], "joining", false, false],
    [["attach", "detach"], "missed", false, false],
    [["attach", "detach", "attach"], "rejoining", false, true],
    [["attach", "detach", "attach", "attach"], "joining", false, false],
    [["attach", "detach", "attach", "detach"], "missed", false, false],
    [["attach", "detach", "attach", "hello"], "live", true, false],
    [["attach", "hello"], "live", true, false],
    [["attach", "hello", "attach"], "moving", true, false],
    [["attach", "hello", "attach", "attach"], "moving", true, false],
    [["attach", "hello", "attach", "detach"], "lost", true, false],
    [["attach", "hello", "attach", "hello"], "live", true, false],
    [["attach", "hello", "detach"], "lost", true, false],
    [["attach", "hello", "detach", "attach"], "resuming", true, true],
    [["attach", "hello", "detach", "attach", "attach"], "moving", true, false],
    [["attach", "hello", "detach", "attach", "detach"], "lost", true, false],
    [["attach", "hello", "detach", "attach", "hello"], "live", true, false],
  ])("after %j is %s", (steps, name, heard, resuming) => {
    const state = after(steps);
    expect(state.name).toBe(name);
    expect(wasHeard(state)).toBe(heard);
    expect(isResuming(state)).toBe(resuming);
    if (state.link !== null) expect(awaitsHello(state)).toBe(name !== "live");
  });

  test("that is carried lets a transport of its own wait until it has settled", () => {
    const [transport, own] = [new ScriptedTransport(), new ScriptedTransport()];
    const lost = detached({ name: "live", link });
    const carried = attached(lost, { kind: "settling", transport, number: 3, next: null });
    if (!isSettling(carried)) throw new Error("It does not settle");
    const waiting = waitingFor(own, carried);
    expect(waiting).toEqual({ name: "resuming", link: { kind: "settling", transport, number: 3, next: own } });
    expect(isCarried(waiting)).toBe(true);
    expect(settled(carried)).toEqual({ name: "resuming", link: { kind: "carried", transport, number: 3 } });
    expect(isCarried(attached(settled(carried), { kind: "own", transport: own }))).toBe(false);
  });
});
