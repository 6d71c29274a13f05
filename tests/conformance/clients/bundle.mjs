// usage: node bundle.mjs MANIFEST
// The manifest of the mcpb bundle, as its own validator sees it.
import { spawnSync } from 'node:child_process';
import { check, finish } from './support.mjs';

const run = spawnSync('mcpb', ['validate', process.argv[2]], { encoding: 'utf8' });
check('mcpb validate takes the manifest', run.status === 0, `${run.stdout}${run.stderr}`);
finish();
