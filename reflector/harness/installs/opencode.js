// Written by `reflector install opencode`; `reflector uninstall opencode` removes it.
// It tells Reflector what happens in a session, and shows the model what Reflector remembers.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { basename } from "node:path"

const LAUNCHER = "@LAUNCHER@"
const LONGEST_MS = 3000
const HAND_OVER = 'exec "$0" hook "$1" "$2" <<END\n$3\nEND'

// Starts the hook and answers with what it printed: "" when anything goes wrong. Never rejects.
const tell = (event, payload) =>
  new Promise((resolve) => {
    let said = ""
    let timer
    const done = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    try {
      if (!existsSync(LAUNCHER)) return done("")
      // The shell hands the payload over: a pipe that we write to ourselves waits for our event loop,
      // and a host that ends right after a turn would not write it at all.
      const words = [LAUNCHER, "opencode", event, JSON.stringify(payload)]
      const child = spawn("/bin/sh", ["-c", HAND_OVER, ...words], { stdio: ["ignore", "pipe", "ignore"] })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        done("")
      }, LONGEST_MS)
      child.on("error", () => done(""))
      child.on("close", () => done(said))
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => (said += text))
    } catch {
      done("")
    }
  })

export const Reflector = async ({ directory }) => {
  // A run of Reflector that works with OpenCode: memory would feed on itself.
  if (process.env.REFLECTOR_CHILD) return {}

  const blocks = new Map() // session → promise of the text that the model is shown
  const inner = new Set() // sessions of subagents: their words are in the session that started them
  const own = basename(process.execPath).startsWith("opencode") ? { opencode_path: process.execPath } : {}
  const payload = (id, more) => ({ session_id: id, cwd: directory, ...own, ...more })
  const begin = (id, source) => blocks.set(id, tell("session.created", payload(id, { source })))

  const happened = {
    "session.created": (id, info) => {
      if (info?.parentID) inner.add(id)
      else begin(id, "startup")
    },
    "session.idle": (id) => tell("session.idle", payload(id)),
    "session.compacted": (id) => {
      blocks.delete(id) // asked for again by the next call of the model
      return tell("session.compacted", payload(id))
    },
    "session.deleted": (id) => {
      blocks.delete(id)
      return tell("session.deleted", payload(id))
    },
  }

  return {
    event: async ({ event }) => {
      try {
        const id = event.properties?.sessionID ?? event.properties?.info?.id
        if (id && !inner.has(id)) await happened[event.type]?.(id, event.properties.info)
      } catch {}
    },
    "chat.message": async ({ sessionID }) => {
      try {
        if (sessionID && !inner.has(sessionID)) void tell("chat.message", payload(sessionID))
      } catch {}
    },
    // Called before every request: the text is kept, so that the provider's cache holds.
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      try {
        if (!sessionID || inner.has(sessionID)) return
        if (!blocks.has(sessionID)) begin(sessionID, "resume")
        const text = await blocks.get(sessionID)
        if (text) output.system.push(text)
      } catch {}
    },
  }
}
