import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import own from '../../../package.json' with { type: 'json' };

it('pnpm start prints an address, and no stack trace where there is no browser', async () => {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const [command, ...given] = own.scripts.start.split(' ');
  expect(command).toBe('vite');
  const server = spawn(process.execPath, [vite, ...given, '--port', '0'], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    // A PATH without a browser and without a command that opens one.
    env: { ...process.env, PATH: '', BROWSER: '' },
  });
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (text: Buffer): void => {
      said += text.toString();
      if (said.includes('Local')) setTimeout(resolve, 1000);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.on('exit', () => reject(new Error(said)));
  });
  await ready;
  server.removeAllListeners('exit');
  server.kill();
  expect(said).toMatch(/http:\/\/127\.0\.0\.1/);
  expect(said).not.toMatch(/Error|at .*\.js:\d+/);
});
