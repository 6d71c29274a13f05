// usage: node typescript_client.mjs legacy|modern|auto
// @modelcontextprotocol/client holds one connection and uses the shell as a person would.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bawn, checkGoodbye, checkTools, finish, modernRevision, serverArgs } from './support.mjs';
import { useShell } from './session.mjs';

const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: modernRevision } };
const transport = new StdioClientTransport({ command: bawn, args: serverArgs });
const client = new Client({ name: 'bawn-client-tests', version: '1' },
  { versionNegotiation: { mode: modes[process.argv[2]] } });
client.onerror = (error) => console.log(`client: ${error}`);

await client.connect(transport);
const { tools } = await client.listTools();
checkTools(tools);
await useShell((name, args, options) => client.callTool({ name, arguments: args }, options));
await checkGoodbye(client, transport.pid);
finish();
