// Mastra's own agent with a model that is a script: a second run remembers, and a store that is gone ends none.
import process from "node:process";
import { Agent } from "@mastra/core/agent";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { Memhold } from "memhold";
import { MemholdMemory } from "memhold/mastra";
import { holds, is } from "./journey.mjs";

const { url, service } = JSON.parse(process.env.JOURNEY);
let down = false;
const cuttable = (input, init) => (down ? Promise.reject(new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } })) : fetch(input, init));
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const weather = createTool({
  id: "weather",
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ degrees: z.number() }),
  execute: async () => ({ degrees: 21 }),
});

/** A process of its own: an agent, its memory, what its model was asked, and what its log says. */
function started(answers, options = {}) {
  const asked = [];
  const log = [];
  const answer = (prompt) => {
    asked.push(prompt);
    return answers.shift() ?? { type: "text", text: "All right." };
  };
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async ({ prompt }) => {
      const content = answer(prompt);
      return { content: [content], finishReason: content.type === "text" ? "stop" : "tool-calls", usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const content = answer(prompt);
      const pieces =
        content.type === "text"
          ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: content.text }, { type: "text-end", id: "1" }]
          : [content];
      const finishReason = content.type === "text" ? "stop" : "tool-calls";
      const all = [{ type: "stream-start", warnings: [] }, ...pieces, { type: "finish", finishReason, usage }];
      const stream = new ReadableStream({
        start(control) {
          for (const piece of all) control.enqueue(piece);
          control.close();
        },
      });
      return { stream };
    },
  });
  const memory = new MemholdMemory(new Memhold({ url, token: service, fetch: cuttable, maxRetries: 1 }), {
    restMs: 0,
    log: (line) => log.push(line),
    ...options,
  });
  const agent = new Agent({
    id: "agent", name: "agent", instructions: "Be brief.", model, tools: { weather }, inputProcessors: [memory], outputProcessors: [memory],
  });
  const say = async (thread, text, resource = "alice") => (await agent.generate(text, { memory: { thread, resource } })).text;
  return { agent, asked, log, memory, say };
}

const textOf = (prompt) => JSON.stringify(prompt);
const calls = { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: '{"city":"Lisbon"}' };
const journal = async (session, user = "alice") => {
  const found = [];
  for await (const one of new Memhold({ url, token: service }).scope({ user, session }).messages()) found.push([one.role, one.text]);
  return found;
};

// The first run.
const first = started([{ type: "text", text: "Noted." }, calls, { type: "text", text: "It has 21 degrees." }]);
is(await first.say("monday", "I moved to Lisbon, and I am allergic to peanuts."), "Noted.");
is(await first.say("monday", "How warm is it there?"), "It has 21 degrees.");
holds(!textOf(first.asked[0]).includes("Memory"), "a first turn has nothing to bring");
is((await journal("monday")).map(([role]) => role), ["user", "assistant", "user", "assistant", "tool", "assistant"]);

// The second: another process, which goes on in the thread and remembers in another one.
const second = started([]);
await second.say("monday", "And tomorrow?");
const roles = second.asked[0].map((one) => one.role);
is(roles, ["system", "system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"]);
const [system, known] = second.asked[0];
is(system.content, "Be brief.");
holds(known.content.includes("allergic to peanuts"), "what the user told stands in a system message");
is(second.asked[0][5].content.at(-1).input, { city: "Lisbon" });
is(JSON.parse(second.asked[0][6].content[0].output.value), { degrees: 21 });
await second.say("tuesday", "What can I cook tonight?");
holds(textOf(second.asked[1]).includes("allergic to peanuts"), "another thread knows it");
is(second.asked[1].filter((one) => textOf(one).includes("What can I cook tonight?")).length, 1, "the question stands once");
const streamed = await second.agent.stream("Tell me more.", { memory: { thread: "tuesday", resource: "alice" } });
is(await streamed.text, "All right.");
is((await journal("tuesday")).map(([, text]) => text), ["What can I cook tonight?", "All right.", "Tell me more.", "All right."]);

// Nobody else, and nobody.
await second.say("monday", "What do you know of me?", "bob");
holds(!textOf(second.asked[3]).includes("peanuts"), "bob is not alice");
await second.agent.generate("And of me?");
holds(!textOf(second.asked[4]).includes("peanuts"), "a call that names nobody has no memory");

// A caller who sends the whole conversation each time, with the ids of its page.
const page = started([{ type: "text", text: "A fine name." }]);
const ui = (id, role, text) => ({ id, role, parts: [{ type: "text", text }] });
const told = [ui("u1", "user", "My cat is called Tom."), ui("a1", "assistant", "A fine name."), ui("u2", "user", "And my dog Rex.")];
const whose = { memory: { thread: "page", resource: "alice" } };
await page.agent.generate(told.slice(0, 1), whose);
await page.agent.generate(told, whose);
await started([]).agent.generate(told, whose);
is((await journal("page")).filter(([, text]) => text === "My cat is called Tom.").length, 1);
is((await journal("page")).filter(([, text]) => text === "And my dog Rex.").length, 1);
is(page.asked[1].filter((one) => textOf(one).includes("My cat is called Tom.") && one.role === "user").length, 1);

// The server goes and comes back: no turn ends, nothing is lost, nothing is doubled.
const away = started([]);
down = true;
is(await away.say("outage", "Said while memory was away."), "All right.");
is(await away.say("outage", "Said a little later."), "All right.");
is([away.memory.waiting, await away.memory.flush()], [4, false]);
down = false;
await away.say("outage", "Said when it was back.");
is(away.memory.waiting, 0);
is((await journal("outage")).map(([, text]) => text), [
  "Said while memory was away.", "All right.", "Said a little later.", "All right.", "Said when it was back.", "All right.",
]);
is(away.log.map((line) => line.split(":")[0]), ["ServerUnreachable", "memory is back"]);
holds(textOf(away.asked[2]).includes("Said while memory was away."), "what waited is known to the next turn");

// What Memhold refuses is left out, and the log has none of its words.
const refused = started([]);
await refused.say("refused", `too long ${"x".repeat(2_000_000)}`);
is((await journal("refused")).map(([, text]) => text), ["All right."]);
holds(refused.log.some((line) => line.includes("TooLarge")) && !refused.log.join().includes("too long"), "it is said");
console.log("remembered");

