import { ARTICLES, findArticle, SECTIONS, type Section, searchArticles } from "./articles.ts";
import { type DemoHost, type DemoOrigins, type DemoResponse, escapeHtml, html, json, seeOther } from "./demo-host.ts";
import { articleBody, feed, PAPER, page, storyList } from "./news-pages.ts";

interface Comment {
  readonly name: string;
  readonly text: string;
  readonly date: string;
}

const COMMENT_LIMIT = 50;
const FIRST_COMMENTS: readonly Comment[] = [
  {
    name: "Wanda",
    text: "Cut this out and put it on the fridge.",
    date: "2026-03-01T08:12:00Z",
  },
  {
    name: "A. Pilot (ret.)",
    text: "The jury stands by its ruling.",
    date: "2026-03-01T10:40:00Z",
  },
];

/** The newspaper's pages, forms and comments. Comments live as long as the server. */
export function newsHost(origins: DemoOrigins): DemoHost {
  const comments = new Map<string, Comment[]>(ARTICLES.map(({ slug }) => [slug, [...FIRST_COMMENTS]]));

  return ({ method, url, cookies, body }): DemoResponse | undefined => {
    const theme = cookies.get("theme") ?? "auto";
    const show = (title: string, content: string, rest: Partial<Parameters<typeof page>[1]> = {}, status = 200) =>
      html(page(origins, { title, body: content, theme, ...rest }), status);
    const [, first = "", second = "", third = ""] = url.pathname.split("/");

    if (method === "POST") {
      if (url.pathname === "/newsletter") return subscribe(body);
      if (first === "api" && second === "comments") return addComment(third, body);
      return show("Not allowed", "<h1>This page takes no messages</h1>", {}, 405);
    }
    switch (first) {
      case "":
        return show(PAPER, storyList(origins, ARTICLES), { front: true });
      case "section":
        if (!isSection(second)) break;
        return show(SECTIONS[second], `<h1>${SECTIONS[second]}</h1>${storyList(origins, inSection(second))}`, {
          section: second,
        });
      case "article": {
        const article = findArticle(second);
        if (!article) break;
        return show(article.title, articleBody(origins, article), {
          section: article.section,
        });
      }
      case "search":
        return search(url.searchParams.get("q") ?? "");
      case "newsletter":
        return show(
          "Thank you",
          `<h1>Thank you</h1><p>The Friday letter goes to ${escapeHtml(url.searchParams.get("to") ?? "you")}.</p>`,
        );
      case "api":
        return comments.has(third) ? json(comments.get(third)) : json({ error: "No such article" }, 404);
      case "rss.xml":
        return {
          type: "application/rss+xml; charset=utf-8",
          body: feed(origins),
          cache: "public, max-age=300",
        };
    }
    return show(
      "Page not found",
      `<h1>This page has gone out with the tide</h1><p>There is nothing at ${escapeHtml(url.pathname)}.
Try the <a href="/">front page</a>.</p>`,
      {},
      404,
    );

    function search(query: string): DemoResponse {
      const found = searchArticles(query);
      const count = found.length === 1 ? "1 story" : `${found.length} stories`;
      const heading = query === "" ? "Search" : `${count} for “${escapeHtml(query)}”`;
      return show("Search", `<h1>${heading}</h1>${storyList(origins, found)}`, {
        query,
      });
    }
  };

  function addComment(slug: string, body: Buffer): DemoResponse {
    const list = comments.get(slug);
    if (!list) return json({ error: "No such article" }, 404);
    const { name, text } = readComment(body);
    if (name === "" || text === "") return json({ error: "A comment needs a name and a text." }, 400);
    const comment = { name, text, date: new Date().toISOString() };
    list.push(comment);
    if (list.length > COMMENT_LIMIT) list.shift();
    return json(comment, 201);
  }
}

function subscribe(body: Buffer): DemoResponse {
  const email = new URLSearchParams(body.toString("utf8")).get("email") ?? "";
  return seeOther(`/newsletter?to=${encodeURIComponent(email)}`);
}

function readComment(body: Buffer): { name: string; text: string } {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const field = (name: string, limit: number): string => {
      const held = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
      return typeof held === "string" ? held.trim().slice(0, limit) : "";
    };
    return { name: field("name", 40), text: field("text", 500) };
  } catch {
    return { name: "", text: "" };
  }
}

function isSection(name: string): name is Section {
  return Object.hasOwn(SECTIONS, name);
}

function inSection(name: Section): typeof ARTICLES {
  return ARTICLES.filter(({ section }) => section === name);
}
