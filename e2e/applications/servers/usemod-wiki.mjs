/** UseModWiki as Debian's package has it, in windows-1251: a script that a web server runs for each request. Its port is the argument. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [port = ""] = process.argv.slice(2);
const SCRIPT = "/usr/lib/cgi-bin/wiki.pl";

/** All that it keeps is in its working directory. */
const PLACES = {
  DataDir: "data",
  PageDir: "data/page",
  HtmlDir: "data/html",
  UserDir: "data/user",
  KeepDir: "data/keep",
  TempDir: "data/temp",
  LockDir: "data/temp/lock",
  RcFile: "data/rclog",
  RcOldFile: "data/oldrclog",
  IndexFile: "data/pageidx",
};
const places = Object.entries(PLACES).map(([name, path]) => `$${name} = "${path}";`);
const settings = `$HttpCharset = "windows-1251"; $NonEnglish = $NewFS = 1; $UseLookup = 0; $LogoUrl = ""; 1;`;
writeFileSync("config", places.join(" ") + settings);
writeFileSync(
  "wiki.pl",
  `local $_ = "nocgi"; do "${SCRIPT}"; $UseModWiki::ConfigFile = "./config"; UseModWiki::DoWikiRequest();`,
);

createServer((request, response) => {
  const { method = "", url = "", headers } = request;
  const [path = "", query = ""] = url.split("?", 2);
  const env = {
    GATEWAY_INTERFACE: "CGI/1.1",
    SERVER_PROTOCOL: "HTTP/1.1",
    SERVER_NAME: "127.0.0.1",
    SERVER_PORT: port,
    REMOTE_ADDR: "127.0.0.1",
    REQUEST_METHOD: method,
    SCRIPT_NAME: path,
    QUERY_STRING: query,
    CONTENT_TYPE: headers["content-type"] ?? "",
    CONTENT_LENGTH: headers["content-length"] ?? "",
    HTTP_HOST: headers.host ?? "",
    HTTP_COOKIE: headers.cookie ?? "",
  };
  const script = spawn("perl", ["wiki.pl"], { env: { ...env, TZ: "UTC" }, stdio: ["pipe", "pipe", "inherit"] });
  request.pipe(script.stdin);
  /** @type {Buffer[]} */
  const parts = [];
  script.stdout.on("data", (part) => parts.push(part));
  script.once("close", () => {
    const answer = Buffer.concat(parts);
    const end = answer.indexOf("\r\n\r\n");
    const fields = answer
      .subarray(0, end)
      .toString("latin1")
      .split("\r\n")
      .map((line) => line.split(/: (.*)/s, 2));
    const status = fields.find(([name]) => name?.toLowerCase() === "status")?.[1];
    response.writeHead(Number.parseInt(status ?? "200", 10), /** @type {string[][]} */ (fields).flat());
    response.end(answer.subarray(end + 4));
  });
}).listen(Number(port), "127.0.0.1");
