// The journey in workerd, without any of Node.js: the environment's JOURNEY says where; what was called is printed.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const dist = dirname(fileURLToPath(import.meta.resolve("memhold")));
const module = (path, contents) => ({ type: "ESModule", path, contents });
const client = readdirSync(dist, { recursive: true })
  .filter((name) => name.endsWith(".js") && name !== "mastra.js")
  .map((name) => module(`memhold/${name}`, readFileSync(join(dist, name), "utf8")));
const here = readFileSync(new URL("journey.mjs", import.meta.url), "utf8").replace('"memhold"', '"./memhold/index.js"');
const main = `
import { journey } from "./journey.mjs";
export default {
  async fetch(request) {
    try {
      return Response.json(await journey(await request.json()));
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};`;
const worker = new Miniflare({
  compatibilityDate: "2026-07-01",
  modules: [module("main.mjs", main), module("journey.mjs", here), ...client],
});
const answer = await worker.dispatchFetch("http://worker/", { method: "POST", body: process.env.JOURNEY });
console.log(await answer.text());
await worker.dispose();
process.exitCode = answer.ok ? 0 : 1;
