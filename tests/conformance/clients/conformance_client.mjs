// usage: node conformance_client.mjs REVISION
// The client half of the official conformance suite against the fixture client, whose path is in
// FIXTURE.
import { spawnSync } from 'node:child_process';
import { check, finish } from './support.mjs';

const scenarios = {
  '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
  '2026-07-28': ['tools_call', 'request-metadata', 'http-standard-headers', 'http-custom-headers',
    'http-invalid-tool-headers', 'sep-2322-client-request-state', 'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation'],
};
const revision = process.argv[2];
for (const scenario of scenarios[revision]) {
  const run = spawnSync('conformance', ['client', '--command', `"${process.env.FIXTURE}"`,
    '--scenario', scenario, '--spec-version', revision, '-o', `${process.env.HOME}/out`], { encoding: 'utf8' });
  check(`${revision}: ${scenario}`, run.status === 0, `${run.stdout}${run.stderr}`);
}
finish();
