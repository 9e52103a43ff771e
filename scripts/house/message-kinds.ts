/**
 * Kinds of messages between windows and workers: each object type with a `type` of one literal, in `pwa/messages`. Kinds of
 * a question, an answer or a phase (`kind`) are parts of one message, and do not count.
 */
import { parseSync, Visitor } from "oxc-parser";

/**
 * The number only gets less, but for things that pages could not do before: their sockets took six, what they read of
 * it two, one says that a synchronous request was refused; a link that is held, and a tab that is not seen, one each, the
 * search in a page three, where the focus is, and what the person is asked for, one each.
 */
export const MOST_KINDS = 97;

/** @param files texts by their paths. @returns kinds by path, in the order in which they stand. */
export function messageKinds(files: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const ofMessages = [...files].filter(([path]) => /^pwa\/messages\/[^/]+(?<!\.test)\.ts$/.test(path));
  return new Map(ofMessages.map(([path, text]) => [path, kindsIn(path, text)]));
}

function kindsIn(path: string, text: string): string[] {
  const kinds: string[] = [];
  new Visitor({
    TSPropertySignature({ key, typeAnnotation }) {
      const type = typeAnnotation?.typeAnnotation;
      const isKind = key.type === "Identifier" && key.name === "type" && type?.type === "TSLiteralType";
      if (isKind && type.literal.type === "Literal") kinds.push(String(type.literal.value));
    },
  }).visit(parseSync(path, text).program);
  return kinds;
}
