export type Section = "harbour" | "town" | "culture" | "sport";

export interface Article {
  readonly slug: string;
  readonly section: Section;
  readonly title: string;
  readonly summary: string;
  readonly author: string;
  /** ISO 8601 date. */
  readonly date: string;
  readonly picture: "photo" | "drawing";
  readonly caption: string;
  readonly paragraphs: readonly string[];
}

export const SECTIONS: Readonly<Record<Section, string>> = {
  harbour: "Harbour",
  town: "Town",
  culture: "Culture",
  sport: "Sport",
};

/** All articles of the paper, newest first. Places and people are made up. */
export const ARTICLES: readonly Article[] = [
  {
    slug: "night-ferry-returns",
    section: "harbour",
    title: "The night ferry returns after eleven winters",
    summary:
      "From March, the last boat leaves Saltmere at half past eleven. The crew that rebuilt her will sail her too.",
    author: "Ines Varga",
    date: "2026-02-27",
    picture: "photo",
    caption: "The Margit at the east pier, an hour before her first trial run.",
    paragraphs: [
      "At twenty past six on Tuesday the Margit cast off from the east pier with nobody aboard but her builders, a pilot and a thermos of coffee that had already gone cold. She came back two hours later with the lights on, all of them, and that was news enough to bring half the quay out of doors.",
      "Saltmere has had no boat after dusk since the winter the bridge opened. The timetable said the bridge made her needless. The people who work nights at the cannery, and drive forty minutes round the bay to get home, said otherwise, at first politely and later at every council meeting for eleven years.",
      "The hull was bought for the price of its steel. Apprentices of the boatyard replaced the frames on Saturdays; the engine came out of a pilot cutter that had hit a pontoon. “We had one rule,” says Joos Meller, who led the work. “If you break it, you learn how to weld it.”",
      "The night ferry will sail four times between seven and half past eleven and carry sixty people, or forty and their bicycles. A crossing costs what a coffee costs on the quay. The council pays for the fuel for two years; after that the boat has to pay for itself.",
      "Not everybody is glad. The residents of Pier Street have asked for quiet engines and got a promise of rubber mounts. They have also got, as one of them admitted while the Margit turned in the last light, the best view in town.",
    ],
  },
  {
    slug: "tide-clock",
    section: "town",
    title: "The clock on the customs house now tells the tide",
    summary:
      "It has one hand, no numbers, and is wrong by less than four minutes. A watchmaker and a school class built it.",
    author: "Tobias Renn",
    date: "2026-02-26",
    picture: "drawing",
    caption: "One hand, one turn every twelve hours and twenty-five minutes.",
    paragraphs: [
      "For thirty years the clock on the customs house stood at ten past four, which sailors called lucky and everybody else called broken. Since Monday it moves again. It does not tell the time. When its single hand points up, the water is high; when it points down, the flats are dry and the herons walk.",
      "The idea is old: the moon comes round every twenty-four hours and fifty minutes, so a hand that turns twice in that span follows the sea. The trouble is the bay, whose narrow mouth delays the flood by a good hour. Class nine of the harbour school measured that delay at the pier, every quarter of an hour, for two months.",
      "Out of the numbers the watchmaker Adela Krons cut a cam, a brass disc as big as a saucer with an edge like a coastline. It pushes the hand forward and holds it back. “A computer would do it better,” she says, “but you cannot see a computer think.”",
      "The worst error in the first week was three minutes and forty seconds, after a night of north wind. The class now measures the wind as well.",
    ],
  },
  {
    slug: "lamp-room",
    section: "culture",
    title: "An evening in the lamp room",
    summary: "Sixteen chairs, one lens and a cello: the lighthouse has become the smallest concert hall on the coast.",
    author: "Maud Ellery",
    date: "2026-02-25",
    picture: "drawing",
    caption: "Sixteen people fit under the lens, if nobody brings a coat.",
    paragraphs: [
      "You climb one hundred and forty-one steps and are asked to leave your coat on the ninetieth. At the top, under a lens the size of a garden shed, stand sixteen chairs and a seventeenth for the cellist. There is no stage, there is hardly a floor.",
      "The concerts began as a repair. When the lamp was switched to diodes, the room fell silent: no more motor, no more hum. The keeper's daughter, home for the holidays, took her cello upstairs because the neighbours had complained, and played a scale. It came back from the glass a moment later, softer and slightly flat, like an answer.",
      "What works up there is slow music, with rests in it. On Saturday it was an old lament, arranged by the player, each phrase waiting for its echo. Nobody coughed. Far below, a dog barked twice, in time.",
      "Tickets are drawn by lot on the first of the month. There is no lift and there will never be one. Those who cannot climb may sit on the lawn, where the sound drifts down in pieces, and where, some say, it is better.",
    ],
  },
  {
    slug: "oyster-count",
    section: "harbour",
    title: "Counting oysters by ear",
    summary:
      "A microphone on the sea bed hears how a reef is doing. In Saltmere the reef is doing well, and it crackles.",
    author: "Ines Varga",
    date: "2026-02-24",
    picture: "photo",
    caption: "Low water at the old reef, with the marker of the listening post.",
    paragraphs: [
      "A healthy reef sounds like frying. That is not a figure of speech: shrimp snap, fish grunt, shells shut, and all of it together is a crackle that a diver hears long before she sees anything. A dead reef is quiet.",
      "Since autumn a microphone in a length of drain pipe has been listening two metres below the low-water mark. It wakes for one minute in ten and sends what it heard, squeezed to a few numbers, over a radio that would not be strong enough to carry a song.",
      "“We used to lift a frame, count what sat on it, and put it back,” says the biologist Ruth Okafor. “It took a day, and it told us about one frame. Now we know about the whole bed, every ten minutes, and no oyster is disturbed.”",
      "The numbers are up by a third since October. The loudest hour, nobody knows yet why, is the one before sunrise.",
    ],
  },
  {
    slug: "last-phone-box",
    section: "town",
    title: "The last phone box becomes a weather desk",
    summary: "Pick up the receiver on Market Square and a voice reads you the wind. It is always the same voice.",
    author: "Tobias Renn",
    date: "2026-02-23",
    picture: "drawing",
    caption: "The receiver still weighs as much as it used to.",
    paragraphs: [
      "The company wanted to take the box away. The council wanted to keep it, and could not say what for. In the end it was the baker opposite who asked the question that mattered: what do people on this square always want to know? They want to know if they should hang the washing out.",
      "So now the receiver knows. Lift it, and you hear wind, rain and the next high water, in nine seconds, read by Hanne Dorn, who announced the trains at Saltmere station until there were no more trains. She recorded two hundred and twelve words in one afternoon. A small computer strings them together.",
      "It sounds like a train announcement, and it is meant to. “Wind from the south-west,” says the box, with the pause before the number that everybody over forty remembers, “force four.” Then it wishes you a pleasant journey.",
    ],
  },
  {
    slug: "mud-race",
    section: "sport",
    title: "Four kilometres of mud, and a photo finish",
    summary: "The hundredth flats race was decided by a shoe. The shoe finished first; its owner did not.",
    author: "Pim Aalto",
    date: "2026-02-22",
    picture: "photo",
    caption: "The field at the second marker, with the tide an hour away.",
    paragraphs: [
      "The rules of the flats race fit on a beer mat. Start at the slip when the water has gone. Touch the wreck. Come back before it returns. Nothing is said about shoes.",
      "That is why there was an argument on Sunday that outlasted the race by three hours. Twenty metres from the line Lena Brandt and Olu Adeyemi were level, knee deep, when Brandt's left shoe came off, flew, and crossed the line before either of them. She followed a hand's breadth behind Adeyemi.",
      "The jury, three retired pilots, asked for the photograph, then for another, then for tea. They ruled that a runner finishes with the body. The shoe was declared a spectator.",
      "Brandt took it well. “I will tie a better knot,” she said. Two hundred and six started, two hundred and one came back on foot, five by tractor. The tide was, as always, on time.",
    ],
  },
  {
    slug: "rope-walk",
    section: "culture",
    title: "Three hundred metres indoors: the rope walk opens its doors",
    summary: "The longest room in the county made ropes until 1961. From Saturday you may walk it from end to end.",
    author: "Maud Ellery",
    date: "2026-02-21",
    picture: "drawing",
    caption: "The walk was built as long as the longest rope it had to lay.",
    paragraphs: [
      "To make a rope of two hundred metres you need a room of three hundred, because yarn shortens as it is twisted. That is the whole secret of the long shed behind the harbour, and the reason why it was too odd to be used for anything else and too long to be pulled down cheaply.",
      "Visitors enter where the hemp came in and leave where the rope went out. Between the two there is little to read and much to touch: tar, hooks, a top as big as a loaf that ran between the strands and told the rope-maker, by its hum, when the lay was right.",
      "On Saturdays the machine runs. Two children turn the crank at one end, one at the other, and the strands crawl towards each other until they suddenly, all at once, are rope. Each visitor gets a hand's length. It holds, the guide says, four adults. People believe him.",
    ],
  },
  {
    slug: "bay-league",
    section: "sport",
    title: "Saltmere goes top, on goal difference and a gull",
    summary: "A long ball, a gust and a bird: the strangest goal of the season was enough for first place.",
    author: "Pim Aalto",
    date: "2026-02-20",
    picture: "photo",
    caption: "The ground by the sea wall. The gull is not in the picture.",
    paragraphs: [
      "The referee's report says “deflected”. It does not say off what. Eleven minutes from time the goalkeeper Sanna Ruiz hit a clearance into the wind, the wind gave it back twice, and on its third attempt the ball met a gull above the opposite penalty area and dropped behind a goalkeeper who was looking at the gull.",
      "The bird flew on, apparently unhurt. The laws of the game call it an outside agent and would have asked for a dropped ball; the referee, with the sun in his eyes, saw only the ball. The visitors did not protest, having seen it and not believed it.",
      "With that, Saltmere leads the Bay League by a single goal with three games left. The next one is away, at a ground a long way from the sea.",
    ],
  },
  {
    slug: "library-boat",
    section: "culture",
    title: "The library boat has a new route, and a cat",
    summary: "Seven islands, two thousand books, and one deckhand who sleeps on the returns.",
    author: "Maud Ellery",
    date: "2026-02-19",
    picture: "photo",
    caption: "The boat at the third of seven jetties.",
    paragraphs: [
      "The boat calls at each island every second Thursday, rings twice and waits an hour. In that hour the novels go ashore, the crime comes back, and whoever has something to say to the mainland says it to the librarian, who writes it down.",
      "New on the route is Little Skar, where five people live and eleven library cards are in use. New on board is a cat. She came with a box of returned cookery books and has declined to leave with them.",
      "What do islands read? “Everything, but slowly,” says the librarian, Bo Lindqvist. “They have weather to read first.”",
    ],
  },
  {
    slug: "quay-trees",
    section: "town",
    title: "Nineteen lime trees for the quay, and one argument",
    summary:
      "The council has planted shade. The twentieth hole stays empty until somebody agrees on what to plant there.",
    author: "Tobias Renn",
    date: "2026-02-18",
    picture: "drawing",
    caption: "Nineteen trees and a hole with a fence around it.",
    paragraphs: [
      "There are nineteen young limes on the quay since Friday, each held by three posts and watered out of a green sack. There are twenty holes. The twentieth lies in front of the fish market, and the fish market wants no tree, because trees have birds.",
      "The council offered a smaller tree. The market asked for a bench. The bench, it turned out, would stand in the way of the lorries, which is what the tree was meant to do. A vote in January ended at seven to seven.",
      "Until the next one the hole has a fence, a sign, and as of yesterday a single sunflower, which nobody admits to.",
    ],
  },
];

export function findArticle(slug: string): Article | undefined {
  return ARTICLES.find((article) => article.slug === slug);
}

/** Articles whose text holds every word of the query, in any case. */
export function searchArticles(query: string): readonly Article[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return ARTICLES.filter((article) => {
    const text = [article.title, article.summary, article.author, ...article.paragraphs].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
