// usage: node programs.mjs
// Programs that people use interactively, driven by the official client: a REPL over its standard
// input, a filter that waits for the end of its input, editors and an installer on a terminal, a
// server in the background. Each waits for what the program prints, never for a time.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { attempt, bawn, check, checkGoodbye, finish, serverArgs, workspace } from './support.mjs';

const transport = new StdioClientTransport({ command: bawn, args: serverArgs });
const client = new Client({ name: 'bawn-program-tests', version: '1' });
await client.connect(transport);

async function call(name, args) {
  const answer = await client.callTool({ name, arguments: args });
  if (!answer.structuredContent) throw new Error(answer.content?.[0]?.text ?? JSON.stringify(answer));
  return answer.structuredContent.result ?? answer.structuredContent; // bash_output may give a list
}

const has = (program) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    console.log(`skipped: ${program} is not installed`);
    return false;
  }
};

/** Follows a call to its end. */
async function toEnd(result) {
  while (result.state === 'running') {
    result = await call('bash_output', { call: result.call, yield_ms: 45_000, stdout_from: 0, stderr_from: 0 });
  }
  return result;
}

/** Waits until the call has printed what matches, from its beginning. */
async function printed(id, pattern) {
  for (;;) {
    const seen = await call('bash_output', { call: id, until: pattern, yield_ms: 20_000, stdout_from: 0 });
    if (new RegExp(pattern).test(seen.stdout) || seen.state !== 'running') return seen;
  }
}

/** Types and waits until the terminal shows what is wanted: a pattern, or a question to the screen. */
async function typed(id, text, wanted) {
  const shows = typeof wanted === 'function' ? wanted : (screen) => new RegExp(wanted).test(screen);
  let seen = await call('bash_input', { call: id, text, yield_ms: 0 });
  while (!shows(seen.screen ?? '') && seen.state === 'running') {
    seen = await call('bash_output', { call: id, follow: true, yield_ms: 20_000 });
  }
  return seen;
}

async function repl() {
  const begun = await call('exec', { argv: ['python3', '-iqu'], stdin: 'pipe', yield_ms: 0 });
  await call('bash_input', { call: begun.call, text: 'x = 6 * 7\n', yield_ms: 0 });
  await call('bash_input', { call: begun.call, text: 'print("answer", x)\n', yield_ms: 0 });
  const seen = await printed(begun.call, 'answer 42');
  check('a Python REPL keeps its variables between inputs', seen.stdout.includes('answer 42'), seen);
  await call('bash_input', { call: begun.call, text: 'raise SystemExit(7)\n', yield_ms: 0 });
  const ended = await toEnd(begun);
  check('and its exit status comes through', ended.exit_code === 7, ended);
}

async function filter() {
  const begun = await call('exec', { argv: ['sort'], stdin: 'pipe', yield_ms: 0 });
  await call('bash_input', { call: begun.call, text: 'b\nc\n', yield_ms: 0 });
  await call('bash_input', { call: begun.call, text: 'a\n', eof: true, yield_ms: 0 });
  const ended = await toEnd(begun);
  check('sort answers at the end of its input', ended.stdout === 'a\nb\nc\n', ended);
}

async function editor() {
  const begun = await call('bash', { command: `${vim} -u NONE -N written`, tty: true, yield_ms: 0 });
  await typed(begun.call, '', 'written');
  await typed(begun.call, 'ihello from vim\u001b', 'hello from vim');
  const shown = await call('bash_input', { call: begun.call, text: ':wq\r', yield_ms: 0 });
  const ended = await toEnd(shown);
  check('vim ends', ended.exit_code === 0, ended);
  const text = existsSync(join(workspace, 'written')) ? readFileSync(join(workspace, 'written'), 'utf8') : '';
  check('vim on a terminal writes what was typed', text === 'hello from vim\n', text);
}

async function installer() {
  mkdirSync(join(workspace, 'package'), { recursive: true });
  const begun = await call('bash', {
    command: 'cd package && npm init', tty: true, yield_ms: 0,
    env: { npm_config_update_notifier: 'false', npm_config_offline: 'true' },
  });
  let seen = await typed(begun.call, '', 'package name:');
  seen = await typed(begun.call, 'made-by-bawn\r', 'version:');
  seen = await typed(begun.call, '2.3.4\r', 'description:');
  // Which questions follow depends on npm's version; each gets the answer that it proposes.
  const questions = /^[a-z ]+:|Is this OK/gm;
  while (seen.state === 'running' && !seen.screen.includes('Is this OK')) {
    const asked = [...seen.screen.matchAll(questions)].length;
    seen = await typed(begun.call, '\r', (screen) => [...screen.matchAll(questions)].length > asked);
  }
  await call('bash_input', { call: begun.call, text: 'yes\r', yield_ms: 0 });
  const ended = await toEnd(begun);
  const path = join(workspace, 'package', 'package.json');
  const made = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  check('npm init asks and is answered', made.name === 'made-by-bawn' && made.version === '2.3.4', [made, ended.screen]);
}

async function rebase() {
  const setUp = `git init -q repo && cd repo && git config user.email a@b && git config user.name n &&
for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "commit $i"; done; git log --oneline | wc -l; cd ..`;
  // The wall keeps .git/config read-only where it exists; here the repository is made inside.
  const made = await toEnd(await call('bash', { command: setUp }));
  check('a repository of three commits', made.stdout.trim() === '3', made);
  const begun = await call('bash', {
    command: `cd repo && GIT_EDITOR="${vim} -u NONE -N" git rebase -i HEAD~2`, tty: true, yield_ms: 0,
  });
  await typed(begun.call, '', 'pick .* commit 3');
  await typed(begun.call, ':2s/^pick/fixup/\r', 'fixup ');
  await call('bash_input', { call: begun.call, text: ':wq\r', yield_ms: 0 });
  const ended = await toEnd(begun);
  const log = await toEnd(await call('bash', { command: 'git -C repo log --format=%s; ls repo' }));
  check('git rebase -i with an editor folds two commits', log.stdout === 'commit 2\ncommit 1\nf1\nf2\nf3\n', [ended, log]);
}

async function server() {
  writeFileSync(join(workspace, 'page'), 'served\n');
  const begun = await call('bash', {
    command: 'python3 -u -m http.server --bind 127.0.0.1 0', background: true, yield_ms: 0,
  });
  const seen = await printed(begun.call, 'port [0-9]+');
  const port = /port (\d+)/.exec(seen.stdout)?.[1];
  check('a server runs in the background', port !== undefined, seen);
  for (const turn of [1, 2]) {
    const got = await toEnd(await call('bash', { command: `curl -sS http://127.0.0.1:${port}/page` }));
    check(`a later call reaches it (${turn})`, got.stdout === 'served\n', got);
  }
  await call('bash_kill', { call: begun.call });
  const ended = await toEnd(begun);
  check('and it is stopped', ended.reason === 'cancelled', ended);
}

const vim = ['vim', 'vim.tiny'].find((name) => has(name));
if (has('python3')) await attempt('a REPL', repl);
await attempt('a filter', filter);
if (vim) await attempt('an editor', editor);
if (has('npm')) await attempt('an installer', installer);
if (has('git') && vim) await attempt('a rebase', rebase);
if (has('python3') && has('curl')) await attempt('a server', server);
await checkGoodbye(client, transport.pid);
finish();
