/** Simulated phones, in as many processes as they need. */
import { type ChildProcess, fork, type SpawnOptions } from "node:child_process";
import { join } from "node:path";
import type { Behaviour, PhonesReport, PhoneTask } from "./task.ts";

export const PHONE_PROGRAM = join(import.meta.dirname, "phone-process.ts");

/** One process can serve so many before it is what is measured. */
const PHONES_PER_PROCESS = 1_000;

export interface FleetTarget {
  readonly edge: string;
  readonly accessKey: string;
  readonly origin: string;
  readonly seed: number;
  /** Of every phone; null to let the app decide. */
  readonly channels: number | null;
}

/** Starts a process that can be sent messages. */
type StartProcess = () => ChildProcess;

const startHere: StartProcess = () => fork(PHONE_PROGRAM, { execArgv: [] });

/** What `spawn` needs for a process that can be sent messages. */
export const WITH_MESSAGES: SpawnOptions = { stdio: ["ignore", "inherit", "inherit", "ipc"] };

export class Fleet {
  readonly #members: readonly ChildProcess[];
  readonly #counts: readonly number[];

  /** @param start of each process; in this namespace by default. */
  constructor(phones: number, start: StartProcess = startHere) {
    const processes = Math.ceil(phones / PHONES_PER_PROCESS);
    this.#counts = Array.from(
      { length: processes },
      (_, index) => Math.floor((phones * (index + 1)) / processes) - Math.floor((phones * index) / processes),
    );
    this.#members = this.#counts.map(start);
  }

  /** @param rate phones a second. */
  async join(target: FleetTarget, rate: number): Promise<PhonesReport> {
    const pause = (1000 / rate) * this.#members.length;
    const tasks = this.#counts.map((count, index): PhoneTask => {
      return { type: "join", count, pause, ...target, seed: target.seed + index * PHONES_PER_PROCESS };
    });
    return merge(await Promise.all(this.#members.map((member, index) => ask(member, tasks[index] as PhoneTask))));
  }

  /** @param time milliseconds over which the requests are spread. */
  touch(time = 0): Promise<PhonesReport> {
    return this.#askAll({ type: "touch", time });
  }

  visit(behaviour: Behaviour): Promise<PhonesReport> {
    return this.#askAll({ type: "visit", behaviour });
  }

  read(behaviour: Behaviour): Promise<PhonesReport> {
    return this.#askAll({ type: "read", behaviour });
  }

  rest(): Promise<PhonesReport> {
    return this.#askAll({ type: "rest" });
  }

  report(): Promise<PhonesReport> {
    return this.#askAll({ type: "report" });
  }

  /** All phones are switched off at once. */
  close(): void {
    for (const member of this.#members) member.kill();
  }

  async #askAll(task: PhoneTask): Promise<PhonesReport> {
    return merge(await Promise.all(this.#members.map((member) => ask(member, task))));
  }
}

let lastId = 0;

/** @throws Error when the phones cannot do it, or their process has ended. */
function ask(member: ChildProcess, task: PhoneTask): Promise<PhonesReport> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      member.off("message", onMessage);
      member.off("close", onClose);
    };
    const onMessage = (answer: { id: number; error?: string; report?: PhonesReport }): void => {
      if (answer.id !== id) return;
      settle();
      if (answer.report === undefined) reject(new Error(`Cannot ${task.type}: ${answer.error}`));
      else resolve(answer.report);
    };
    const onClose = (): void => {
      settle();
      reject(new Error(`Cannot ${task.type}: the phones' process has ended`));
    };
    member.on("message", onMessage);
    member.once("close", onClose);
    member.send({ id, task });
  });
}

function merge(reports: readonly PhonesReport[]): PhonesReport {
  const sum = (of: (report: PhonesReport) => number): number => reports.reduce((total, each) => total + of(each), 0);
  return {
    done: sum(({ done }) => done),
    downloads: sum(({ downloads }) => downloads),
    bytes: sum(({ bytes }) => bytes),
    cuts: sum(({ cuts }) => cuts),
    linked: sum(({ linked }) => linked),
    sessions: sum(({ sessions }) => sessions),
    resumes: sum(({ resumes }) => resumes),
    keepAlives: sum(({ keepAlives }) => keepAlives),
    frameBytes: sum(({ frameBytes }) => frameBytes),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    latencies: reports.flatMap(({ latencies }) => latencies),
    failures: reports.flatMap(({ failures }) => failures),
  };
}
