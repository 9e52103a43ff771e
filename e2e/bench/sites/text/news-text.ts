import { seededRandom, seedOf } from "../../../demo/random.ts";
import * as words from "./news-vocabulary.ts";
import * as plain from "./plain-words.ts";

export interface Story {
  /** Part of addresses; the same for the same story at every version of a site. */
  readonly id: string;
  readonly topic: string;
  readonly headline: string;
  readonly summary: string;
  readonly author: string;
  readonly paragraphs: readonly string[];
}

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly price: string;
  readonly description: string;
}

/** The story of this name; every name has another. */
export function story(name: string, paragraphs: number): Story {
  const random = seededRandom(seedOf(name));
  const subject = random() < 0.6 ? pick(words.BODIES, random) : `${person(random)}`;
  const cause = random() < 0.55 ? ` ${pick(words.CAUSES, random)}` : "";
  const used = new Set<string>();
  return {
    id: storyId(name),
    topic: pick(words.TOPICS, random),
    headline: capital(`${subject.replace(/^the /, random() < 0.5 ? "" : "the ")} ${pick(words.DEEDS, random)}${cause}`),
    summary: `${sentence(random, used)} ${sentence(random, used)}`,
    author: person(random),
    paragraphs: Array.from({ length: paragraphs }, () =>
      Array.from({ length: 3 + Math.floor(random() * 3) }, () => sentence(random, used)).join(" "),
    ),
  };
}

export function product(name: string): Product {
  const random = seededRandom(seedOf(name));
  const material = pick(words.MATERIALS, random);
  const good = pick(words.GOODS, random);
  return {
    id: storyId(name),
    name: `${material} ${good}${random() < 0.3 ? ` “${pick(words.PLACES, random)}”` : ""}`,
    price: `${4 + Math.floor(random() ** 2 * 240)}.${pick(["00", "50", "90", "95"], random)}`,
    description: `${plainSentence(random)} ${fill(pick(words.PRAISE, random), random)} ${plainSentence(random)}`,
  };
}

/** Names of the stories in this many places of a page; from version to version a third of the places gets a new one. */
export function placesAt(page: string, count: number, version: number): readonly string[] {
  return Array.from({ length: count }, (_, place) => {
    const changes = Array.from({ length: version }, (_, edit) => edit).filter(
      (edit) => (edit + place) % 3 === 0,
    ).length;
    return `${page}/${place}/${changes}`;
  });
}

export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** One in four is a sentence of the newsroom, none of them twice in a story. */
function sentence(random: () => number, used: Set<string>): string {
  if (random() < 0.75) return plainSentence(random);
  const unused = words.SENTENCES.filter((candidate) => !used.has(candidate));
  const template = pick(unused.length > 0 ? unused : words.SENTENCES, random);
  used.add(template);
  return fill(template, random);
}

function plainSentence(random: () => number): string {
  const first = fill(pick(plain.CLAUSES, random), random);
  if (random() < 0.5) return `${first}.`;
  const joint = pick(plain.JOINTS, random);
  const second = fill(pick(plain.CLAUSES, random), random);
  const named = second.startsWith("“") || words.FIRST_NAMES.some((name) => second.startsWith(`${name} `));
  return `${first}${joint}${named ? second : second.charAt(0).toLowerCase() + second.slice(1)}.`;
}

function fill(template: string, random: () => number): string {
  return template.replace(/%[Prlbnmaovd]/g, (slot) => {
    switch (slot) {
      case "%P":
        return person(random);
      case "%r":
        return pick(words.ROLES, random);
      case "%l":
        return pick(words.PLACES, random);
      case "%b":
        return pick(words.BODIES, random);
      case "%a":
        return pick(plain.ADJECTIVES, random);
      case "%o":
        return pick(plain.NOUNS, random);
      case "%v":
        return pick(plain.VERBS, random);
      case "%d":
        return pick(plain.ADVERBS, random);
      case "%m":
        return `${(1 + random() * 98).toFixed(1)} million crowns`;
      default:
        return Math.ceil(random() ** 3 * 900 + 2).toLocaleString("en");
    }
  });
}

function person(random: () => number): string {
  return `${pick(words.FIRST_NAMES, random)} ${pick(words.LAST_NAMES, random)}`;
}

function pick(list: readonly string[], random: () => number): string {
  return list[Math.floor(random() * list.length)] ?? "";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function storyId(name: string): string {
  return (seedOf(name) % 100_000_000).toString().padStart(8, "0");
}
