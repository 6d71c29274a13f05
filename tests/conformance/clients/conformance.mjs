// usage: node conformance.mjs --requirements|--spec-version REVISION
// The official conformance suite against the fixture server, whose path is in FIXTURE.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const server = spawn(process.env.FIXTURE, [], { stdio: ['ignore', 'pipe', 'inherit'] });
const port = await new Promise((resolve, reject) => {
  createInterface({ input: server.stdout }).once('line', resolve);
  server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
});
const suite = spawn('conformance',
  ['server', '--url', `http://localhost:${port}/mcp`, ...process.argv.slice(2), '-o', `${process.env.HOME}/out`],
  { stdio: ['ignore', 'pipe', 'inherit'] });
let said = '';
suite.stdout.on('data', (part) => {
  said += part;
  process.stdout.write(part);
});
const status = await new Promise((resolve) => suite.once('exit', (code) => resolve(code ?? 1)));
const ended = new Promise((resolve) => server.once('exit', resolve));
server.kill('SIGTERM');
const served = await ended;

/** Names behind a mark at the beginning of a line. */
const marked = (text, mark) => [...text.matchAll(new RegExp(`^${mark} ([\\w-]+)`, 'gm'))].map((found) => found[1]);
const [, summary = '', unscored = ''] = said.split(/=== SUMMARY ===|^Not scored/m);
const unrequired = new Set([...marked(unscored, ' +[✓✗]')]);
const required = (mark) => marked(summary, mark).filter((name) => !unrequired.has(name)).length;
const passed = required('✓');
const all = passed + required('✗');
// With requirements, a suite that runs fewer scenarios than it once did proves less.
const wanted = process.argv[2] === '--requirements' ? { '2026-07-28': 37, '2025-11-25': 30 }[process.argv[3]] : all;
console.log(`suite: ${status}, required: ${passed}/${all}, server: ${served}`);
process.exit(status === 0 && served === 0 && all > 0 && passed === wanted && all === wanted ? 0 : 1);
