// Writes while the server is killed, and while every third answer is lost on its way; prints what was acknowledged.
import process from "node:process";
import { Memhold } from "memhold";

const { url, token, lines } = JSON.parse(process.env.JOURNEY);
let requests = 0;
const lossy = async (input, init) => {
  requests += 1;
  const lost = requests % 3 === 0;
  const answer = await fetch(input, init);
  if (!lost) return answer;
  await answer.arrayBuffer();
  throw new TypeError("fetch failed: the answer was lost");
};
const memory = new Memhold({ url, token, fetch: lossy, maxRetries: 10_000, timeoutMs: 300_000 });
const scope = memory.scope({ session: "killed" });
let next = 0;

async function write() {
  for (let line = next++; line < lines; line = next++) {
    await scope.add({ role: "user", content: `line ${line}` });
    await scope.documents.put(["line", String(line)], { line }, { if_rev: 0 });
    console.log(line);
  }
}

await Promise.all([write(), write(), write(), write()]);
