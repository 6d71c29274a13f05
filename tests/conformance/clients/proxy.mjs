// usage: node proxy.mjs everything|filesystem
// An official server inside the wall of bawn mcp-proxy, seen through the official client.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { attempt, bawn, check, finish, modernRevision, textOf } from './support.mjs';
import { useEverything } from './everything.mjs';

// The packages must be visible inside, wherever this folder lies: they are the workspace.
const packages = join(process.cwd(), 'node_modules');
const data = mkdtempSync(join(packages, '.proxy-test-'));
process.on('exit', () => rmSync(data, { recursive: true }));
writeFileSync(join(data, 'note.txt'), 'a note');
const servers = {
  everything: ['server-everything/dist/index.js', 'stdio'],
  filesystem: ['server-filesystem/dist/index.js', data],
};
const [script, ...args] = servers[process.argv[2]];
const transport = new StdioClientTransport({
  command: bawn,
  args: ['mcp-proxy', '--workspace', packages, '--', join(packages, '.bin/node'),
    join(packages, '@modelcontextprotocol', script), ...args],
});
const client = new Client({ name: 'bawn-proxy-tests', version: '1' },
  { versionNegotiation: { mode: { pin: modernRevision } } });
await client.connect(transport);
const { tools } = await client.listTools();
check('the server has its tools', tools.length > 5, tools.map((tool) => tool.name));
for (const tool of tools) {
  check(`${tool.name}: is confined`, tool._meta?.['bawn/confinement']?.confined === true, tool._meta);
}
const call = (name, given) => attempt(name, () => client.callTool({ name, arguments: given }));
if (process.argv[2] === 'everything') {
  const echo = await call('echo', { message: 'hello' });
  check('the result is confined, confirmed', echo?._meta?.['bawn/confinement']?.confirmed === true, echo?._meta);
  await useEverything(client);
} else {
  check('a file is read', textOf(await call('read_text_file', { path: join(data, 'note.txt') })) === 'a note');
  await call('write_file', { path: join(data, 'new.txt'), content: 'x' });
  check('a file is written', existsSync(join(data, 'new.txt')), data);
}
await client.close();
finish();
