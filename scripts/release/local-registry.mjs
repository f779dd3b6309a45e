import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { run } from '../run.mjs';

// The last minor version of Verdaccio that runs on Node 20.
const verdaccio = 'verdaccio@6.2';

/**
 * Starts an npm registry (Verdaccio) on the loopback interface that serves only packages that are published
 * to it. `npmrc` is the content of a user's `.npmrc` that installs the project's packages from this registry,
 * and other packages from the usual one.
 */
export async function startRegistry(folder) {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'config.yaml'),
    [
      `storage: ${join(folder, 'storage')}`,
      'auth: { htpasswd: { file: ./htpasswd } }',
      'packages: { "**": { access: $all, publish: $all, unpublish: $all } }',
      'log: { type: stdout, level: warn }',
      'server: { keepAliveTimeout: 60 }',
    ].join('\n'),
  );
  // One dependency of Verdaccio is named by a tag, which not every npm mirror has; a version range works as
  // well.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "overrides": { "node-fetch": "^2.7.0" } }');
  run(folder, 'npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    verdaccio,
  ]);
  const command = join(folder, 'node_modules', 'verdaccio', 'bin', 'verdaccio');
  const server = spawn(
    process.execPath,
    [command, '--config', join(folder, 'config.yaml'), '--listen', address],
    {
      stdio: 'ignore',
    },
  );
  const npmrc = `@tilewise:registry=http://${address}/\n//${address}/:_authToken=local\n`;
  const registry = {
    npmrc,
    /** Publishes a tarball with npm, without provenance, which needs a build server. */
    publish(tarball) {
      const place = join(folder, 'publish');
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'package.json'), '{}');
      writeFileSync(join(place, '.npmrc'), npmrc);
      run(place, 'npm', ['publish', tarball, '--no-provenance', '--access', 'public', '--loglevel=error'], {
        NPM_CONFIG_PROVENANCE: 'false',
      });
    },
    stop() {
      server.kill();
    },
  };
  try {
    await answering(`http://${address}/-/ping`);
  } catch (error) {
    registry.stop();
    throw error;
  }
  return registry;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function answering(url) {
  for (let n = 0; n < 240; n++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise(resolve => setTimeout(resolve, 500));
  }
  throw new Error(`The registry does not answer at ${url}.`);
}
