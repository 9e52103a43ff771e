import { expect, testInOneApp as test } from "../fixtures/browser.ts";
import { startTestOrigin } from "../fixtures/test-origin/test-origin.ts";

const HEARD = `<script>
  window.heard = [];
  addEventListener("message", ({ data, origin, source, ports }) => {
    const from = source === window ? "self" : source === parent ? "parent" : "frame";
    heard.push(data + " " + origin + " " + from);
    if (data === "port") ports[0].postMessage("through the port");
  });
</script>`;

const heardIn = (frame: { evaluate<T>(read: () => T): Promise<T> }) =>
  frame.evaluate(() => (window as unknown as { heard: string[] }).heard);

test("messages between a page, its frame and the frame in that name real origins", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const third = await startTestOrigin({ ip: "127.0.0.13" });
  const [a, b, c] = [origin.origin, otherOrigin.origin, third.origin];
  origin.page(
    "/",
    `${HEARD}<iframe src="${b}/b"></iframe><script>
       const frame = document.querySelector("iframe");
       const held = frame.contentWindow;
       postMessage("own", "${a}");
       frame.onload = () => {
         held.postMessage("wrong", "${c}");
         held.postMessage("wrong", "${a}");
         held.postMessage("right", "${b}");
         held.postMessage("whole URL", { targetOrigin: "${b}/x?y" });
         const { port1, port2 } = new MessageChannel();
         port1.onmessage = ({ data }) => heard.push(data);
         held.postMessage("port", "${b}", [port2]);
         try { held.postMessage("no origin", "nonsense"); } catch (error) { heard.push(error.name); }
         try { held.postMessage(() => {}, "${b}"); } catch (error) { heard.push(error.name); }
       };
       addEventListener("message", function hear({ source }) {
         if (source === window) return;
         removeEventListener("message", hear);
         heard.push("same window " + (source === held && source === frame.contentWindow));
       });
     </script>`,
  );
  otherOrigin.page(
    "/b",
    `${HEARD}<script>
       parent.postMessage("wrong", "${c}");
       parent.postMessage("from b", "${a}");
       addEventListener("message", ({ data, origin, source }) => {
         if (data === "right") source.postMessage("answer", origin);
         if (data === "from c") source.postMessage("to c", origin);
       });
     </script><iframe src="${c}/c"></iframe>`,
  );
  third.page(
    "/c",
    `${HEARD}<script>parent.postMessage("from c", "${b}"); parent.parent.postMessage("to a", "${a}")</script>`,
  );
  await app.goto(`${a}/`);
  const page = await app.content();
  await expect.poll(async () => (await heardIn(page)).length).toBeGreaterThan(7);
  const [frameB] = page.childFrames();
  const [frameC] = frameB?.childFrames() ?? [];
  if (frameB === undefined || frameC === undefined) throw new Error("Cannot look into the frames: they are missing");
  await expect.poll(() => heardIn(frameC)).toEqual([`to c ${b} parent`]);
  expect((await heardIn(frameB)).toSorted()).toEqual(
    [`from c ${c} frame`, `port ${a} parent`, `right ${a} parent`, `whole URL ${a} parent`].toSorted(),
  );
  expect((await heardIn(page)).toSorted()).toEqual(
    [
      `own ${a} self`,
      `from b ${b} frame`,
      "same window true",
      `to a ${c} frame`,
      `answer ${b} frame`,
      "through the port",
      "SyntaxError",
      "DataCloneError",
    ].toSorted(),
  );
  await third.close();
});
