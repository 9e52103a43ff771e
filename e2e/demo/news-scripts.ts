/** Theme choice: kept in a cookie that the server reads too. */
export const SITE_SCRIPT = `const themes = ["auto", "light", "dark"];
const button = document.querySelector("#theme");

function chosenTheme() {
  return document.cookie.match(/(?:^|; )theme=(\\w+)/)?.[1] ?? "auto";
}

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  button.setAttribute("aria-label", "Theme: " + theme);
  button.title = "Theme: " + theme;
}

button.addEventListener("click", () => {
  const theme = themes[(themes.indexOf(chosenTheme()) + 1) % themes.length];
  document.cookie = "theme=" + theme + "; path=/; max-age=31536000; samesite=lax";
  showTheme(theme);
});
button.hidden = false;
showTheme(chosenTheme());

const comments = document.querySelector("#comments");
if (comments) import("./comments.js").then((module) => module.start(comments));
`;

/** Comments below an article: read and sent as JSON. */
export const COMMENTS_SCRIPT = `const when = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

export async function start(section) {
  const path = "/api/comments/" + section.dataset.slug;
  const list = section.querySelector("ol");
  const form = section.querySelector("form");
  const status = section.querySelector("[role=status]");

  const answer = await fetch(path);
  for (const comment of await answer.json()) list.append(item(comment));
  status.textContent = "";
  form.hidden = false;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    status.textContent = "Sending …";
    const comment = Object.fromEntries(new FormData(form));
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(comment),
    });
    const saved = await answer.json();
    if (answer.ok) {
      list.append(item(saved));
      form.reset();
      status.textContent = "Thank you.";
    } else {
      status.textContent = saved.error;
    }
  });
}

function item(comment) {
  const element = document.createElement("li");
  const head = document.createElement("strong");
  head.textContent = comment.name;
  const time = document.createElement("time");
  time.dateTime = comment.date;
  time.textContent = when.format(new Date(comment.date));
  const text = document.createElement("p");
  text.textContent = comment.text;
  element.append(head, " ", time, text);
  return element;
}
`;
