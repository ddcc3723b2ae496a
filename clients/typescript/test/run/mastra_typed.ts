// The processor in the places that Mastra has for it, as its types see it. It is compiled and not run.
import { Agent } from "@mastra/core/agent";
import { Memhold } from "memhold";
import { MemholdMemory } from "memhold/mastra";

const memory = new MemholdMemory(new Memhold({ url: "http://127.0.0.1:8484" }), {
  scope: ({ thread, resource }) => (resource === undefined ? null : { user: resource, session: thread }),
  budget: 4000,
});
export const agent = new Agent({
  id: "helper",
  name: "helper",
  instructions: "Be brief.",
  model: "openai/gpt-5",
  inputProcessors: [memory],
  outputProcessors: [memory],
});
