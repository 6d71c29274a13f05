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
  { stdio: 'inherit' });
const status = await new Promise((resolve) => suite.once('exit', (code) => resolve(code ?? 1)));
const ended = new Promise((resolve) => server.once('exit', resolve));
server.kill('SIGTERM');
const served = await ended;
console.log(`suite: ${status}, server: ${served}`);
process.exit(status === 0 && served === 0 ? 0 : 1);
