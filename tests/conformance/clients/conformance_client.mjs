// usage: node conformance_client.mjs REVISION
// The client half of the official conformance suite against the fixture client, whose path is in
// FIXTURE.
import { spawnSync } from 'node:child_process';
import { check, finish } from './support.mjs';

const authorization = ['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3', 'basic-cimd',
  'scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined', 'scope-step-up',
  'scope-retry-limit', 'token-endpoint-auth-basic', 'token-endpoint-auth-post', 'token-endpoint-auth-none',
  'pre-registration'];
const newerAuthorization = ['resource-mismatch', 'offline-access-scope', 'offline-access-not-supported',
  'authorization-server-migration', 'iss-supported', 'iss-not-advertised', 'iss-supported-missing',
  'iss-wrong-issuer', 'iss-unexpected', 'iss-normalized', 'metadata-issuer-mismatch'];
const named = (names) => names.map((name) => `auth/${name}`);
const scenarios = {
  '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry',
    ...named(authorization)],
  '2026-07-28': ['tools_call', 'request-metadata', 'http-standard-headers', 'http-custom-headers',
    'http-invalid-tool-headers', 'sep-2322-client-request-state', 'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation', ...named(authorization), ...named(newerAuthorization)],
};
const revision = process.argv[2];
for (const scenario of scenarios[revision]) {
  const run = spawnSync('conformance', ['client', '--command', `"${process.env.FIXTURE}"`,
    '--scenario', scenario, '--spec-version', revision, '-o', `${process.env.HOME}/out`], { encoding: 'utf8' });
  check(`${revision}: ${scenario}`, run.status === 0, `${run.stdout}${run.stderr}`);
}
finish();
