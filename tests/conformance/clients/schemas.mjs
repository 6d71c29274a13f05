// usage: node schemas.mjs FOLDER
// Writes the protocol's official schemas, one file a revision, which the conformance suite carries in
// its program: from 2025-03-26 on. Tests hold every message that they see against them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const program = new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url);
const text = readFileSync(program, 'utf8');

/** The end of the object literal that begins at `from`. */
function endOfObject(from) {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"' || sign === "'" || sign === '`') {
      for (at += 1; text[at] !== sign; at += 1) at += text[at] === '\\' ? 1 : 0;
    } else if (sign === '{') depth += 1;
    else if (sign === '}' && (depth -= 1) === 0) return at + 1;
  }
  throw new Error('an object without an end');
}

/** What only that revision's schema defines. */
const marks = [
  ['2026-07-28', (names) => names.has('DiscoverResult')],
  ['2025-11-25', (names) => names.has('ListTasksResult')],
  ['2025-06-18', (names) => names.has('ElicitResult')],
  ['2025-03-26', (names) => names.has('JSONRPCBatchRequest')],
];

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
const found = new Map();
for (const begin of text.matchAll(/\{\$schema:[`"']https?:\/\/json-schema\.org\/[^`"']*[`"'],(\$defs|definitions):\{/g)) {
  const literal = text.slice(begin.index, endOfObject(begin.index));
  const schema = Function(`"use strict"; return (${literal});`)();
  const names = new Set(Object.keys(schema.$defs ?? schema.definitions));
  if (!names.has('JSONRPCMessage')) continue;
  const mark = marks.find(([, is]) => is(names));
  if (mark !== undefined) found.set(mark[0], schema);
}
for (const [revision, schema] of found) writeFileSync(join(folder, `${revision}.json`), JSON.stringify(schema));
console.log(`schemas: ${[...found.keys()].sort().join(', ')}`);
process.exit(found.size === marks.length ? 0 : 1);
