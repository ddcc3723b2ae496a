// The built plug-in against a hook that writes down what it is told, and a client that knows three sessions.

import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import plugin from "../dist/opencode.js"

const HOOK = `
const { appendFileSync, readFileSync } = require("node:fs")
const [log, mode, event] = process.argv.slice(2)
const told = JSON.parse(readFileSync(0, "utf8"))
appendFileSync(log, JSON.stringify({ event, ...told }) + "\\n")
if (mode === "hang") setTimeout(() => {}, 3_000)
else if (mode === "off") console.log(JSON.stringify({ systemMessage: "memory is off" }))
else if (mode === "nonsense") console.log("{ no")
else if (event === "SessionStart") console.log(JSON.stringify({ hookSpecificOutput: { additionalContext: "START" } }))
else if (told.prompt === "known") console.log(JSON.stringify({ hookSpecificOutput: { additionalContext: "HIT" } }))
`
const LONG_AGO = { ses_new: [], ses_old: [{}], ses_inner: [] }

async function loaded({ mode = "tell", options } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "memhold-"))
  const log = join(folder, "log")
  writeFileSync(log, "")
  writeFileSync(join(folder, "hook.cjs"), HOOK)
  const warned = []
  const client = {
    session: {
      get: async ({ path }) => ({ data: { id: path.id, parentID: path.id === "ses_inner" ? "ses_new" : undefined } }),
      messages: async ({ path }) => ({ data: LONG_AGO[path.id] }),
    },
    tui: { showToast: async ({ body }) => void warned.push(body.message) },
    app: { log: async () => undefined },
  }
  const given = options ?? { hook: [process.execPath, join(folder, "hook.cjs"), log, mode] }
  const hooks = await plugin.server({ client, directory: "/work/shop" }, given)
  return {
    hooks,
    warned,
    async says(sessionID, text) {
      const parts = [{ id: "prt_2062c6ba1001aaaaaaaaaaaaaa", type: "text", text }]
      await hooks["chat.message"]({ sessionID }, { message: { id: "msg_1" }, parts })
      return parts.slice(1)
    },
    heard: () =>
      readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((one) => one.event !== "Wake"),
  }
}

test("a session begins with what memory holds, and a prompt brings what is relevant", async () => {
  const opencode = await loaded()
  const [part, ...more] = await opencode.says("ses_new", "known")
  assert.deepEqual(more, [])
  assert.equal(part.text, "START\n\nHIT")
  assert.equal(part.synthetic, true)
  assert.equal(part.messageID, "msg_1")
  assert.ok(part.id > "prt_2062c6ba1001aaaaaaaaaaaaaa" && part.id.startsWith("prt_"))
  assert.deepEqual(await opencode.says("ses_new", "something else"), [])
  const heard = opencode.heard()
  assert.deepEqual(heard.map((one) => one.event), ["SessionStart", "UserPromptSubmit", "UserPromptSubmit"])
  assert.equal(heard[0].source, "startup")
  assert.equal(heard[0].cwd, "/work/shop")
  assert.match(heard[0].transcript_path, /opencode\/opencode\.db\/ses_new$/)
  assert.equal(heard[1].prompt, "known")
})

test("a session that goes on says so, and after a compaction it is told anew", async () => {
  const opencode = await loaded()
  await opencode.says("ses_old", "hello")
  assert.equal(opencode.heard()[0].source, "resume")
  await opencode.hooks["experimental.session.compacting"]({ sessionID: "ses_old" }, { context: [] })
  await opencode.hooks.event({ event: { type: "session.compacted", properties: { sessionID: "ses_old" } } })
  const [part] = await opencode.says("ses_old", "go on")
  assert.equal(part.text, "START")
  assert.deepEqual(
    opencode.heard().map((one) => [one.event, one.source]).slice(2, 4),
    [["PreCompact", undefined], ["SessionStart", "compact"]],
  )
})

test("the end of the process is told and that of a turn is not, of sessions that a person spoke in", async () => {
  const opencode = await loaded()
  await opencode.says("ses_new", "hello")
  assert.deepEqual(await opencode.says("ses_inner", "the model asks its agent"), [])
  for (const sessionID of ["ses_new", "ses_inner"]) {
    await opencode.hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
  }
  await opencode.hooks.dispose()
  const heard = opencode.heard()
  assert.deepEqual(heard.map((one) => one.event), ["SessionStart", "UserPromptSubmit", "SessionEnd"])
  assert.deepEqual([...new Set(heard.map((one) => one.session_id))], ["ses_new"])
})

for (const [mode, why] of [["hang", /took more than/], ["off", /memory is off/]]) {
  test(`a hook that says '${mode}' holds nothing up, and is told of once`, async () => {
    const opencode = await loaded({ mode })
    assert.deepEqual(await opencode.says("ses_new", "known"), [])
    assert.equal(opencode.warned.length, 1)
    assert.match(opencode.warned[0], why)
    const before = opencode.heard().length
    assert.deepEqual(await opencode.says("ses_new", "known"), [])
    // The one that hung is not waited for again: its program has hardly begun.
    assert.equal(opencode.heard().length, mode === "hang" ? before : before + 1)
    assert.equal(opencode.warned.length, 1)
  })
}

test("a hook that is not there is told of, and nonsense is nothing", async () => {
  const missing = await loaded({ options: { hook: ["/nowhere/memhold-hook"] } })
  assert.deepEqual(await missing.says("ses_new", "known"), [])
  assert.match(missing.warned.join(), /cannot be started/)
  const nonsense = await loaded({ mode: "nonsense" })
  assert.deepEqual(await nonsense.says("ses_new", "known"), [])
  assert.deepEqual(nonsense.warned, [])
})

test("it brings the tools where none are there, and stands back where it was set up", async () => {
  const opencode = await loaded()
  const bare = {}
  await opencode.hooks.config(bare)
  assert.deepEqual(Object.keys(bare.mcp), ["memhold"])
  const mine = { mcp: { memhold: { type: "local", command: ["mine"] } } }
  await opencode.hooks.config(mine)
  assert.deepEqual(mine.mcp.memhold.command, ["mine"])
  const second = await loaded({ options: {} })
  const config = { plugin: [["file:///venv/memhold/faces/agents/opencode.ts", { hook: ["memhold-hook"] }], "memhold-opencode"] }
  await second.hooks.config(config)
  assert.equal(config.mcp, undefined)
  assert.deepEqual(await second.says("ses_new", "known"), [])
})
