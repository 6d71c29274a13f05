// usage: node inspector.mjs legacy|modern|auto stdio|http
// @modelcontextprotocol/inspector lists the tools, calls bash, and finds nothing to complain about.
import { spawnSync } from 'node:child_process';
import { bawn, check, checkTools, finish, serveHttp, serverArgs, textOf } from './support.mjs';

const era = process.argv[2];
const launcher = new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url).pathname;
const eraArgs = era === 'legacy' ? [] : ['--protocol-era', era];

const server = process.argv[3] === 'http' ? await serveHttp() : undefined;
const target = server === undefined ? [bawn, ...serverArgs] : [server.url];

function inspect(...args) {
  const words = [launcher, '--cli', ...target, ...eraArgs, ...args];
  const run = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000 });
  let answer;
  try {
    answer = JSON.parse(run.stdout);
  } catch {
    answer = undefined;
  }
  return { status: run.status, answer, all: `${run.stdout}${run.stderr}` };
}

const json = ['--format', 'json', '-q'];
const list = inspect('--method', 'tools/list', ...json);
check('tools/list: exit status 0', list.status === 0, list.all);
checkTools(list.answer?.result?.tools ?? []);

const call = inspect('--method', 'tools/call', '--tool-name', 'bash', '--tool-args-json',
  JSON.stringify({ command: 'echo "answer: $((6 * 7))"; exit 3', session: 'work' }), ...json);
check('tools/call: the text has the output', textOf(call.answer?.result).includes('answer: 42'), call.all);
check('tools/call: the structure has the exit status', call.answer?.result?.structuredContent?.exit_code === 3, call.all);
check('tools/call: the result says how it was confined',
  call.answer?.result?._meta?.['bawn/confinement']?.confined === true, call.answer?.result?._meta);

const strict = inspect('--method', 'tools/list', '--strict', ...json);
check('the schemas are portable (--strict)', strict.status === 0, strict.all);

const unknown = inspect('--method', 'tools/call', '--tool-name', 'nope', '--tool-args-json', '{}', ...json);
check('an unknown tool: exit status 5', unknown.status === 5, unknown.all);
await server?.stop();
finish();
