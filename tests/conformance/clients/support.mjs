// What the client tests share: checks that print what was seen, the server's command line, and a
// look at the machine's processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const bawn = process.env.BAWN;
export const workspace = process.env.WORKSPACE;
export const serverArgs = ['mcp', '--workspace', workspace];
export const modernRevision = '2026-07-28';

let failures = 0;

/** Prints one line and remembers a failure; `seen` is shown when it failed. */
export function check(what, ok, seen) {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}`);
  if (!ok) {
    failures += 1;
    console.log(`       seen: ${typeof seen === 'string' ? seen : JSON.stringify(seen)}`);
  }
  return ok;
}

/** Ends the script with status 1 when a check failed. */
export function finish() {
  console.log(failures === 0 ? 'all checks passed' : `${failures} checks failed`);
  process.exit(failures === 0 ? 0 : 1);
}

/** A failed await is a failed check, not a stack trace without context. */
export async function attempt(what, work) {
  try {
    return await work();
  } catch (error) {
    check(what, false, String(error?.stack ?? error));
    return undefined;
  }
}

/** Starts the server over HTTP; its URL, and a function that ends it and checks how. */
export async function serveHttp() {
  const server = spawn(bawn, ['mcp', '--http', '127.0.0.1:0', '--workspace', workspace],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  const [line] = await once(createInterface({ input: server.stderr }), 'line');
  const stop = async () => {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    const [status] = await ended;
    check('the server ends in order', status === 0, status);
  };
  return { url: /http:\S+/.exec(line)[0], stop };
}

/** All text parts of a tool result. */
export function textOf(result) {
  return (result?.content ?? []).filter((part) => part.type === 'text').map((part) => part.text).join('\n');
}

/** Pids of this machine whose command line holds `marker`. */
export function processesWith(marker) {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(marker);
    } catch {
      return false; // it ended meanwhile
    }
  });
}

/** Pids of all that descends from `pid`, itself included. */
export function familyOf(pid) {
  const family = [String(pid)];
  for (const parent of family) {
    try {
      for (const thread of readdirSync(`/proc/${parent}/task`)) {
        const children = readFileSync(`/proc/${parent}/task/${thread}/children`, 'latin1');
        family.push(...children.split(' ').filter((child) => child !== ''));
      }
    } catch {
      // it ended meanwhile
    }
  }
  return family;
}

/** Closes the client and checks that the server leaves nothing behind. */
export async function checkGoodbye(client, serverPid) {
  const family = familyOf(serverPid);
  check('a server with a shell is more than one process', family.length > 1, family);
  await client.close();
  const left = () => family.filter((pid) => existsSync(`/proc/${pid}`));
  check('the server and all of its processes end with the connection',
    (await until(() => left().length === 0)) !== undefined, left());
}

/** Looks until `seen` is true or a time is over that only a broken server takes; milliseconds that it took, or undefined. */
export async function until(seen) {
  const start = performance.now();
  for (;;) {
    if (seen()) return performance.now() - start;
    if (performance.now() - start > 60_000) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The checks that every client makes on the list of tools. */
export function checkTools(tools) {
  const names = tools.map((tool) => tool.name);
  for (const name of ['bash', 'bash_output', 'bash_restart', 'exec']) {
    check(`tools/list has ${name}`, names.includes(name), names);
  }
  for (const tool of tools) {
    check(`${tool.name}: the input schema is an object`, tool.inputSchema?.type === 'object', tool.inputSchema);
    const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
    const missing = hints.filter((hint) => typeof tool.annotations?.[hint] !== 'boolean');
    check(`${tool.name}: all four hints are explicit`, missing.length === 0, missing);
    const confinement = tool._meta?.['bawn/confinement'];
    check(`${tool.name}: says how its calls are confined`, typeof confinement?.confined === 'boolean', tool._meta);
  }
}
