/** Memhold: durable memory for AI agents, over HTTP. */

export { Admin, Documents, Memhold, Scope, Tokens } from "./client.js";
export type { AnthropicContext, AnthropicMessage, OpenAIContext, OpenAIMessage, Options, ScopeOptions } from "./client.js";
export type { AlsoScope, CallOptions, Item, MessageInput, Messages, Time } from "./arguments.js";
export { MemholdError } from "./error.js";
export * from "./generated/errors.js";
export type * from "./generated/api.js";
export { Pages } from "./pages.js";
export { Export } from "./streams.js";
export type { MemholdOptions } from "./transport.js";
