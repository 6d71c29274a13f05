// usage: node legacy_sdk.mjs
// @modelcontextprotocol/sdk 1.x, which most hosts in the field still use, does the same.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { bawn, check, checkGoodbye, checkTools, finish, serverArgs } from './support.mjs';
import { useShell } from './session.mjs';

const client = new Client({ name: 'bawn-client-tests', version: '1' });
client.onerror = (error) => console.log(`client: ${error}`);
const transport = new StdioClientTransport({ command: bawn, args: serverArgs });
await client.connect(transport);
check('the server names itself', client.getServerVersion()?.name === 'bawn', client.getServerVersion());
const { tools } = await client.listTools();
checkTools(tools);
await useShell((name, args, options) => client.callTool({ name, arguments: args }, undefined, options));
await checkGoodbye(client, transport.pid);
finish();
