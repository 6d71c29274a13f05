// What a person does with a shell, over one connection of any official client: state that stays, a
// background job, an interrupt that keeps the shell. `call(name, arguments, options)` is the client's.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, check, processesWith, textOf, until, workspace } from './support.mjs';

async function keepsState(bash) {
  await bash('mkdir -p sub && cd sub && where=here && greet() { echo "hello from $where"; }');
  const later = textOf(await bash('basename "$PWD"; greet'));
  check('cd, variables and functions persist', later.includes('sub') && later.includes('hello from here'), later);
}

async function startsBackgroundJob(bash, marker) {
  const started = await bash(`sleep ${marker} & echo started`);
  check('a background job does not hold its call', started?.structuredContent?.state === 'finished', started);
  const jobs = textOf(await bash('jobs'));
  check('a background job persists', jobs.includes(marker), jobs);
  // The call may return before the job has become `sleep`.
  const runs = await until(() => processesWith(`sleep\0${marker}`).length === 1);
  check('and really runs', runs !== undefined, processesWith(marker));
}

async function endsBackgroundJob(bash, marker) {
  check('the background job of an earlier call outlives a cancellation',
    processesWith(`sleep\0${marker}`).length === 1, processesWith(marker));
  await bash('kill %1; wait');
  const gone = await until(() => processesWith(`sleep\0${marker}`).length === 0);
  check('and can be ended by the shell', gone !== undefined, processesWith(marker));
}

async function cancels(call, marker) {
  const controller = new AbortController();
  const command = `sleep ${marker} | cat & setsid sleep ${marker} & sleep ${marker}`;
  const answer = call('bash', { command }, { signal: controller.signal }).then(
    (result) => `answered: ${JSON.stringify(result)}`,
    () => 'aborted',
  );
  const running = await until(() => processesWith(`sleep\0${marker}`).length >= 3);
  check('the command to cancel runs', running !== undefined, processesWith(marker));
  controller.abort('the user stopped it');
  const gone = await until(() => processesWith(`sleep\0${marker}`).length === 0);
  console.log(`       gone after ${gone?.toFixed(1)} ms`);
  check('its processes are gone', gone !== undefined, processesWith(marker));
  check('the client sees an abort', (await answer) === 'aborted', await answer);
}

/** Runs it all; `call` returns a promise of a tool result. */
export async function useShell(call) {
  const bash = (command) => call('bash', { command });
  // A duration that no other process of this machine has in its command line, longer than any wait here.
  const marker = () => `6000.${String(process.pid)}${String(Math.floor(Math.random() * 1e6))}`;
  await attempt('state persists', () => keepsState(bash));
  const job = marker();
  await attempt('a background job persists', () => startsBackgroundJob(bash, job));
  await attempt('a call is cancelled', () => cancels(call, marker()));
  const after = textOf(await attempt('the shell goes on', () => bash('basename "$PWD"; greet; echo "$$"')));
  check('the same shell goes on after the cancellation',
    after.includes('sub') && after.includes('hello from here'), after);
  await attempt('the background job ends', () => endsBackgroundJob(bash, job));
  const wrong = await attempt('wrong arguments are answered', () =>
    call('bash', { command: 42 }).then((result) => `${result.isError} ${textOf(result)}`, (error) => `true ${error.message}`));
  check('arguments of the wrong type get a sentence', /^true .*invalid arguments: /s.test(wrong ?? ''), wrong);
  // Inside, a folder beside the workspace may be a private one; what counts is what the host sees.
  const outside = join(workspace, '..', 'outside');
  await attempt('writes are answered', () => bash(`cd; echo x > ${workspace}/inside; echo x > ${outside}`));
  check('a write in the workspace is seen by the host', existsSync(join(workspace, 'inside')), workspace);
  check('a write outside the workspace is not', !existsSync(outside), outside);
}
