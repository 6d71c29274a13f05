// usage: node proxy_url.mjs sdk1|legacy|modern
// server-everything over HTTP, reached by bawn mcp-proxy URL, seen through the official clients.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bawn, check, finish, modernRevision } from './support.mjs';
import { useEverything } from './everything.mjs';

/** A port that was free just now. */
async function freePort() {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address();
  holder.close();
  await once(holder, 'close');
  return port;
}

/** Starts it; again at another port when somebody else took the one. */
async function serveEverything() {
  for (let tries = 0; tries < 20; tries += 1) {
    const port = await freePort();
    const server = spawn(process.execPath,
      [join('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'],
      { env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] });
    const errors = createInterface({ input: server.stderr });
    const up = new Promise((resolve) => {
      errors.on('line', (line) => line.includes('listening') && resolve(true));
      errors.once('close', () => resolve(false));
    });
    if (await up) return { server, url: `http://127.0.0.1:${port}/mcp` };
  }
  throw new Error('server-everything found no port');
}

async function connect(kind, parameters) {
  const { Client, transport } = kind === 'sdk1'
    ? { Client: (await import('@modelcontextprotocol/sdk/client/index.js')).Client,
        transport: new (await import('@modelcontextprotocol/sdk/client/stdio.js')).StdioClientTransport(parameters) }
    : { Client: (await import('@modelcontextprotocol/client')).Client,
        transport: new (await import('@modelcontextprotocol/client/stdio')).StdioClientTransport(parameters) };
  const mode = kind === 'modern' ? { pin: modernRevision } : 'legacy';
  const client = new Client({ name: 'bawn-proxy-tests', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

const { server, url } = await serveEverything();
process.on('exit', () => server.kill('SIGKILL'));
const client = await connect(process.argv[2], { command: bawn, args: ['mcp-proxy', url], stderr: 'inherit' });
const { tools } = await client.listTools();
check('the server has its tools', tools.length > 5, tools.map((tool) => tool.name));
check('nobody vouches for a wall', tools.every((tool) => tool._meta?.['bawn/confinement']?.confined !== true),
  tools[0]?._meta);
await useEverything(client);
await client.close();
finish();
