// Runs a Turborepo task quietly: nothing on stdout (which belongs to the following command, whose output is
// often JSON lines), the log on stderr only if something fails, and no telemetry.
//   node scripts/turbo.mjs build [--filter=...]
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const turbo = createRequire(import.meta.url).resolve('turbo/bin/turbo');
const args = ['run', ...process.argv.slice(2), '--output-logs=errors-only', '--log-prefix=task'];
const run = spawnSync(process.execPath, [turbo, ...args], {
  encoding: 'utf8',
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
  maxBuffer: 64 * 1024 * 1024,
});
if (run.status !== 0) {
  process.stderr.write(run.stdout ?? '');
  process.stderr.write(run.stderr ?? '');
  if (run.error) process.stderr.write(`${run.error}\n`);
}
process.exit(run.status ?? 1);
