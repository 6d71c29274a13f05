// usage: ADDRESS=… TOKEN=… node image_client.mjs
// The official client against a server in a container, with a bearer token.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { attempt, check, checkTools, finish, textOf } from './support.mjs';

const transport = new StreamableHTTPClientTransport(new URL(`${process.env.ADDRESS}/mcp`),
  { requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } });
const client = new Client({ name: 'bawn-image-tests', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(transport);
const { tools } = await client.listTools();
checkTools(tools);
const bash = (command) => attempt(command, () =>
  client.callTool({ name: 'bash', arguments: { command, session: 'client' } }));
await bash('cd /tmp && x=5');
const later = await bash('echo "$PWD $x"');
check('a session keeps its state from request to request', /\/tmp 5/.test(textOf(later)), textOf(later));
const report = later?._meta?.['bawn/confinement'];
check('each call reports its confinement', /landlock\+seccomp/.test(report?.by ?? ''), report);
await client.close();
finish();
