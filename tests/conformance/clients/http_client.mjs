// usage: node http_client.mjs sdk1|legacy|modern|auto
// The official clients over HTTP, with bawn-http.
import { attempt, check, checkTools, finish, modernRevision, serveHttp, textOf } from './support.mjs';

const server = await serveHttp();
const url = new URL(server.url);

async function connect(kind) {
  if (kind === 'sdk1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'bawn-http-tests', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: modernRevision } };
  const client = new Client({ name: 'bawn-http-tests', version: '1' }, { versionNegotiation: { mode: modes[kind] } });
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}

const client = await connect(process.argv[2]);
const { tools } = await client.listTools();
checkTools(tools);
const bash = (command) => attempt(command, () =>
  client.callTool({ name: 'bash', arguments: { command, session: 'work' } }));
await bash('mkdir -p sub && cd sub && x=5');
const later = textOf(await bash('basename "$PWD"; echo "x is $x"'));
check('a session keeps its state from request to request', /sub\nx is 5/.test(later), later);
const other = await connect(process.argv[2] === 'modern' || process.argv[2] === 'auto' ? 'legacy' : process.argv[2]);
const theirs = textOf(await other.callTool({ name: 'bash', arguments: { command: 'echo "x is $x"', session: 'work' } }));
check('another client with the same name has another shell', /x is \n/.test(theirs), theirs);
await other.close();
await client.close();
await server.stop();
finish();
