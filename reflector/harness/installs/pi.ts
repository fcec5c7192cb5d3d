// Written by `reflector install pi`; `reflector uninstall pi` removes it.
// It tells Reflector what happens in a session, and shows the model what Reflector remembers.
// Plain JavaScript, so that it runs without pi's types.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const LAUNCHER = "@LAUNCHER@";
const LONGEST_MS = 3000;
const HAND_OVER = 'exec "$0" hook "$1" "$2" <<END\n$3\nEND';

// Starts the hook and answers with what it printed: "" when anything goes wrong. Never rejects.
const tell = (event, payload) =>
  new Promise((resolve) => {
    let said = "";
    let timer;
    const done = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    try {
      if (!existsSync(LAUNCHER)) return done("");
      // The shell hands the payload over: a pipe that we write to ourselves waits for our event loop,
      // and a host that ends right after a turn would not write it at all.
      const words = [LAUNCHER, "pi", event, JSON.stringify(payload)];
      const child = spawn("/bin/sh", ["-c", HAND_OVER, ...words], { stdio: ["ignore", "pipe", "ignore"] });
      timer = setTimeout(() => {
        child.kill("SIGKILL");
        done("");
      }, LONGEST_MS);
      child.on("error", () => done(""));
      child.on("close", () => done(said));
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (text) => (said += text));
    } catch {
      done("");
    }
  });

export default function (pi) {
  // A run of Reflector that works with pi: memory would feed on itself.
  if (process.env.REFLECTOR_CHILD) return;

  let memory = ""; // what the model has yet to be shown
  const payload = (ctx, more = {}) => ({
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile() ?? "",
    cwd: ctx.cwd,
    ...more,
  });
  const on = (event, act) =>
    pi.on(event, async (given, ctx) => {
      try {
        return await act(given, ctx);
      } catch {
        return undefined;
      }
    });

  on("session_start", async (event, ctx) => {
    // What goes on has the text before its eyes, unless the memory has changed since.
    const again = ["resume", "reload", "fork"].includes(event.reason);
    memory = await tell("session_start", payload(ctx, { source: again ? "resume" : "startup" }));
  });
  on("before_agent_start", (_event, ctx) => {
    void tell("before_agent_start", payload(ctx));
    if (!memory) return undefined;
    const content = memory;
    memory = "";
    return { message: { customType: "reflector-memory", content, display: false } };
  });
  on("agent_end", async (_event, ctx) => void (await tell("agent_end", payload(ctx))));
  on("session_before_compact", async (_event, ctx) => void (await tell("session_before_compact", payload(ctx))));
  on("session_compact", async (_event, ctx) => {
    memory = await tell("session_start", payload(ctx, { source: "compact" }));
  });
  on("session_shutdown", async (_event, ctx) => void (await tell("session_shutdown", payload(ctx))));
}
