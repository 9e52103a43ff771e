/** The page's own script: shows later pictures after the load event, fetches feeds and shows them. */
export function medianAppScript(api: string, version: number): string {
  return `/* app ${3 + version}.2 */
(function () {
  "use strict";
  var server = "https://${api}/v2/";
  var edition = ${9120 + version};
  document.documentElement.classList.replace("no-js", "js");

  function element(name, className, text) {
    var made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function storyView(item) {
    var article = element("article", "feed-item edition-" + edition);
    article.dataset.id = item.id;
    article.append(element("h3", "h6", item.headline), element("p", "", item.summary));
    if (item.picture) {
      var picture = element("img");
      picture.width = 640;
      picture.height = 427;
      picture.alt = item.headline;
      picture.src = item.picture;
      article.prepend(picture);
    }
    return article;
  }

  function load(name, place, most) {
    return fetch(server + name + ".json")
      .then(function (response) {
        if (!response.ok) throw new Error("Cannot load " + name + ": status " + response.status);
        return response.json();
      })
      .then(function (feed) {
        var views = feed.items.slice(0, most).map(storyView);
        var target = document.getElementById(place);
        if (target) target.replaceChildren.apply(target, views);
      });
  }

  function showLater() {
    document.querySelectorAll("img[data-src]").forEach(function (picture) {
      picture.src = picture.dataset.src;
      picture.removeAttribute("data-src");
    });
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-save], [data-share]");
    if (!button) return;
    var saved = JSON.parse(localStorage.getItem("saved") || "[]");
    saved.push({ id: button.dataset.save || button.dataset.share, edition: edition });
    localStorage.setItem("saved", JSON.stringify(saved.slice(-${40 + version})));
    button.textContent = button.dataset.save ? "Saved" : "Shared";
  });

  load("feed", "feed", 12);
  load("comments", "comments", 6);
  load("markets", "markets", 4);
  load("weather", "weather", 3);
  if (document.readyState === "complete") showLater();
  else window.addEventListener("load", showLater);
})();
`;
}

/** Scripts of third parties by `HOST/path`: consent, which fetches a list and then lets in analytics and advertisements. */
export function medianTagScripts(
  tags: string,
  ads: string,
  creatives: readonly string[],
): Readonly<Record<string, string>> {
  return {
    [`${tags}/consent.js`]: `/* Consent manager. */
(function () {
  function permit(address) {
    var script = document.createElement("script");
    script.async = true;
    script.src = address;
    document.head.appendChild(script);
  }
  fetch("https://${tags}/vendors.json")
    .then(function (response) { return response.json(); })
    .then(function (list) {
      list.vendors.filter(function (vendor) { return vendor.script; }).forEach(function (vendor) { permit(vendor.script); });
    });
})();
`,
    [`${tags}/vendors.json`]: JSON.stringify({
      vendorListVersion: 214,
      vendors: [
        { id: 1, name: "Audience Metrics", purposes: [1, 7, 8, 10], script: `https://${tags}/analytics.js` },
        { id: 2, name: "Header Bid", purposes: [1, 2, 3, 4], script: `https://${ads}/bid.js` },
        ...Array.from({ length: 60 }, (_, index) => ({
          id: index + 3,
          name: `Vendor ${((index + 3) * 7919).toString(36)}`,
          purposes: [1 + (index % 3), 4 + (index % 5)],
          policyUrl: `https://vendor-${((index + 3) * 104_729).toString(36)}.test/privacy`,
        })),
      ],
    }),
    [`${tags}/analytics.js`]: `/* Audience measurement. */
(function () {
  var seen = { width: innerWidth, height: innerHeight, depth: 0, stories: 0 };
  addEventListener("scroll", function () { seen.depth = Math.max(seen.depth, scrollY); }, { passive: true });
  seen.stories = document.querySelectorAll("[data-id]").length;
  var pixel = new Image(1, 1);
  pixel.alt = "";
  pixel.src = "https://${tags}/pixel.gif";
  window.audience = seen;
})();
`,
    [`${ads}/bid.js`]: `/* Header bidding: a creative for each place. */
(function () {
  var creatives = ${JSON.stringify(creatives)};
  document.querySelectorAll(".ad").forEach(function (place) {
    var creative = new Image(300, 250);
    creative.alt = "Advertisement";
    creative.src = creatives[Number(place.dataset.place)];
    place.appendChild(creative);
  });
})();
`,
  };
}
