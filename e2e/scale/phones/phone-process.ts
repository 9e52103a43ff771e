/** Many phones in one process. Takes PhoneTask messages from its parent, answers each, by its id, with a PhonesReport. */
import { setTimeout as wait } from "node:timers/promises";
import { TUNNEL_PATH } from "../../../shared/subprotocol.ts";
import { pairPhone } from "../../../worker/testing/test-phone.ts";
import { Phone } from "./phone.ts";
import { PhoneTally } from "./tally.ts";
import type { PhonesReport, PhoneTask } from "./task.ts";

const tally = new PhoneTally();
const phones: Phone[] = [];
let reading: Promise<void>[] = [];

process.on("message", ({ id, task }: { id: number; task: PhoneTask }) => {
  carryOut(task).then(
    () => process.send?.({ id, report: report() }),
    (error: Error) => process.send?.({ id, error: error.message }),
  );
});
process.on("disconnect", () => process.exit(0));

async function carryOut(task: PhoneTask): Promise<void> {
  switch (task.type) {
    case "join":
      return await join(task);
    case "touch":
      await Promise.all(
        phones.map(async (phone, index) => {
          await wait((index * task.time) / phones.length);
          await phone.touch();
        }),
      );
      return;
    case "visit":
      await Promise.all(phones.map((phone) => phone.visit(task.behaviour)));
      return;
    case "read":
      reading = phones.map((phone) => phone.read(task.behaviour));
      return;
    case "rest":
      for (const phone of phones) phone.rest();
      await Promise.all(reading);
      return;
    case "report":
  }
}

async function join({
  count,
  pause,
  edge,
  accessKey,
  origin,
  seed,
  channels,
}: PhoneTask & { type: "join" }): Promise<void> {
  const url = new URL(TUNNEL_PATH, edge).href.replace(/^http/, "ws");
  const joining: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    joining.push(
      pairPhone(edge, accessKey).then(async (token) => {
        const phone = new Phone({ url, token, channels }, origin, seed + index, tally);
        phones.push(phone);
        await phone.touch();
      }),
    );
    await wait(pause);
  }
  await Promise.all(joining);
}

function report(): PhonesReport {
  const { user, system } = process.cpuUsage();
  return {
    ...tally.take(),
    linked: phones.filter(({ isLinked }) => isLinked).length,
    sessions: phones.reduce((sum, { sessions }) => sum + sessions, 0),
    resumes: phones.reduce((sum, { resumes }) => sum + resumes, 0),
    keepAlives: phones.reduce((sum, { keepAlives }) => sum + keepAlives, 0),
    frameBytes: phones.reduce((sum, { frameBytes }) => sum + frameBytes, 0),
    cpuSeconds: (user + system) / 1e6,
  };
}
