/**
 * Memhold for opencode: a session begins with what memory holds, each prompt brings what is relevant to it, and what is
 * said is taken in. All of that is done by Memhold's hook, a program of its own; this plug-in calls it, and goes on
 * without it where it fails or takes too long. It is told once in a process why memory is off.
 *
 * The tools are an MCP server of opencode's own list; where none is called `memhold` there, it is put in.
 */

import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Config, Plugin, PluginModule, PluginOptions } from "@opencode-ai/plugin"

/** What stands behind this plug-in in opencode's file: the program that is called with the name of an event. */
interface Options {
  hook: string[]
}

/** What the hook is to do, in the words of Claude Code's hooks. */
interface Told {
  session_id?: string
  transcript_path?: string
  source?: "startup" | "resume" | "compact"
  prompt?: string
}

/** What the hook says: a text for the model, and one for the person. */
interface Said {
  context: string
  trouble: string
}

/** A hook that runs: what it says is there once it ended, or once it is waited for no longer. */
interface Running {
  said: Promise<Said>
  ended: Promise<void>
}

const ON_THE_PATH: Options = { hook: ["memhold-hook"] }
const SERVER = ["memhold", "mcp", "--project", "auto"]
/** How long a hook is waited for; one that has an answer has it after a small part of that. */
const WAITED_MILLISECONDS = 1_000
/** After how long one that hangs is ended: on a slow machine it takes its note meanwhile. */
const ENDED_MILLISECONDS = 10_000
const NOTHING: Said = { context: "", trouble: "" }
const LATE = off(`its hook took more than ${WAITED_MILLISECONDS / 1000} s`)

const server: Plugin = async ({ client, directory }, given) => {
  const { hook } = chosen(given) ?? ON_THE_PATH
  const begun = new Set<string>()
  const compacted = new Set<string>()
  let standsBack = false
  let toldOff = false
  let late = 0

  async function call(event: string, told: Told): Promise<string> {
    const running = started([...hook, event], { ...told, hook_event_name: event, cwd: directory })
    // While one is late the next would be too: it is called, and not waited for.
    const said = late > 0 ? NOTHING : await running.said
    if (said === LATE) {
      late += 1
      void running.ended.then(() => (late -= 1))
    }
    if (said.trouble && !toldOff) {
      toldOff = true
      await warn(said.trouble)
    }
    return said.context
  }

  async function warn(message: string): Promise<void> {
    // In a script there is nobody who sees a toast.
    if (process.argv.includes("run") || !process.stderr.isTTY) process.stderr.write(`${message}\n`)
    await Promise.allSettled([
      client.tui.showToast({ body: { message, variant: "warning" } }),
      client.app.log({ body: { service: "memhold", level: "warn", message } }),
    ])
  }

  /** What a session is told before its first prompt in this process. */
  async function start(session: string, transcript: string): Promise<string> {
    const source = compacted.delete(session) ? "compact" : (await hasMessages(session)) ? "resume" : "startup"
    begun.add(session)
    return call("SessionStart", { session_id: session, transcript_path: transcript, source })
  }

  async function hasMessages(session: string): Promise<boolean> {
    const { data } = await client.session.messages({ path: { id: session } })
    return (data ?? []).length > 0
  }

  /** Whether a session is the work of another one: its prompts are the model's, and no person reads it. */
  async function isInner(session: string): Promise<boolean> {
    const { data } = await client.session.get({ path: { id: session } })
    return Boolean(data?.parentID)
  }

  return {
    config: async (config) => {
      // Where 'memhold agent install' has set opencode up, it says whose memory this is.
      standsBack = chosen(given) === undefined && ((config as Config).plugin ?? []).some(isSetUp)
      if (standsBack) return
      config.mcp ??= {}
      config.mcp["memhold"] ??= { type: "local", command: SERVER, enabled: true }
      void call("Wake", {})
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      try {
        if (standsBack || (!begun.has(sessionID) && (await isInner(sessionID)))) return
        const transcript = transcriptOf(sessionID)
        const texts: string[] = []
        if (!begun.has(sessionID) || compacted.has(sessionID)) texts.push(await start(sessionID, transcript))
        const prompt = parts.map((part) => (part.type === "text" && !part.synthetic ? part.text : "")).join("\n")
        texts.push(await call("UserPromptSubmit", { session_id: sessionID, transcript_path: transcript, prompt }))
        const text = texts.filter(Boolean).join("\n\n")
        // It stays in the session, so that the provider's cache of the prompt holds; it is not the person's word.
        if (text) {
          const id = partAfter(parts.map((part) => part.id))
          parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
        }
      } catch (error) {
        await warn(`Memhold: memory is off for this prompt: ${error instanceof Error ? error.message : String(error)}`)
      }
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      if (!begun.has(sessionID)) return
      await call("PreCompact", { session_id: sessionID, transcript_path: transcriptOf(sessionID) })
    },

    event: async ({ event }) => {
      // The end of a turn needs no call: the prompt's hook has noted the session, and whoever runs looks at it.
      if (event.type === "session.compacted" && begun.has(event.properties.sessionID)) {
        compacted.add(event.properties.sessionID)
      }
    },

    dispose: async () => {
      const ended = [...begun].map((session) =>
        call("SessionEnd", { session_id: session, transcript_path: transcriptOf(session) }),
      )
      await Promise.allSettled(ended)
    },
  }
}

/** The options, where they are those that `memhold agent install` writes. */
function chosen(given: PluginOptions | undefined): Options | undefined {
  const hook = given?.["hook"]
  return Array.isArray(hook) && hook.length > 0 ? { hook: hook.map(String) } : undefined
}

function isSetUp(entry: string | [string, PluginOptions]): boolean {
  return Array.isArray(entry) && /memhold/.test(entry[0]) && chosen(entry[1]) !== undefined
}

/** How Memhold names a session that stands in opencode's database. */
function transcriptOf(session: string): string {
  const data = join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "opencode")
  const named = process.env["OPENCODE_DB"] || "opencode.db"
  return join(isAbsolute(named) ? named : join(data, named), session)
}

/** An id of opencode's kind that comes behind those that are there: parts are read in the order of their ids. */
function partAfter(ids: string[]): string {
  const last = ids.reduce((one, other) => (one > other ? one : other), "")
  return /^prt_[0-9a-f]{12}/.test(last) ? `${last}m` : `prt_${(BigInt(Date.now()) * 4096n).toString(16).slice(-12)}memhold`
}

function off(why: string): Said {
  return { context: "", trouble: `Memhold: memory is off for now: ${why}` }
}

/** Start the hook, and end it where it hangs; nothing that it does throws. */
function started(command: string[], told: object): Running {
  const [program = "", ...words] = command
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"] })
  let out = ""
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (out += piece))
  child.stdin.on("error", () => undefined)
  const end = setTimeout(() => child.kill("SIGKILL"), ENDED_MILLISECONDS)
  let wait: NodeJS.Timeout | undefined
  const ended = new Promise<Said>((resolve) => {
    child.on("error", (error) => resolve(off(`${program} cannot be started (${error.message})`)))
    child.on("close", () => resolve(read(out)))
  }).finally(() => {
    clearTimeout(end)
    clearTimeout(wait)
  })
  const late = new Promise<Said>((resolve) => (wait = setTimeout(() => resolve(LATE), WAITED_MILLISECONDS)))
  child.stdin.end(JSON.stringify(told))
  return { said: Promise.race([ended, late]), ended: ended.then(() => undefined) }
}

function read(out: string): Said {
  if (!out.trim()) return NOTHING
  try {
    const said = JSON.parse(out)
    return { context: String(said.hookSpecificOutput?.additionalContext ?? ""), trouble: String(said.systemMessage ?? "") }
  } catch {
    return NOTHING
  }
}

export default { id: "memhold", server } satisfies PluginModule
