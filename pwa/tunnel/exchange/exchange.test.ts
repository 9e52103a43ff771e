import { expect, it } from "vitest";
import { bodyOf, ConsumerLog, responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { type Ask, askInOrder, type PhoneRequest, passingOn, type ResponseSource } from "./exchange.ts";

const request: PhoneRequest = { head: requestHead, body: null, push: null };

it("asks each source in its turn, the last where none answers, with what those before made of the request", () => {
  const asked: string[] = [];
  const passing =
    (name: string): ResponseSource =>
    (one, consumer, next) => {
      asked.push(`${name} ${one.head.url}`);
      return next({ ...one, head: { ...one.head, url: `${one.head.url}${name}` } }, consumer);
    };
  const last: Ask = ({ head }) => {
    asked.push(`last ${head.url}`);
    return { cancel: () => asked.push("cancel") };
  };
  const { url } = requestHead;
  askInOrder([passing("a"), passing("b")], last)(request, new ConsumerLog()).cancel();
  expect(asked).toEqual([`a ${url}`, `b ${url}a`, `last ${url}ab`, "cancel"]);
});

it("lets a source answer, or change what the next one answers", () => {
  const answering: ResponseSource = (one, consumer, next) => {
    if (one.body !== null) return next(one, consumer);
    consumer.onEnd();
    return { cancel() {} };
  };
  const changing: ResponseSource = (one, consumer, next) =>
    next(one, passingOn(consumer, { onHead: (head) => consumer.onHead({ ...head, status: 200 }) }));
  const notModified: Ask = (_, consumer) => {
    consumer.onHead({ ...responseHead, status: 304 });
    consumer.onEnd();
    return { cancel() {} };
  };
  const ask = askInOrder([answering, changing], notModified);
  const [own, passed] = [new ConsumerLog(), new ConsumerLog()];
  ask(request, own);
  ask({ ...request, body: bodyOf("up") }, passed);
  expect([own.events, passed.events, passed.head?.status]).toEqual([["end"], ["head", "end"], 200]);
});
