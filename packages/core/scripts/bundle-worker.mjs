// Puts the bundled script of the CPU engine's workers into the compiled package, in place of the null of its
// sources.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerText } from './worker-text.mjs';

const folder = fileURLToPath(new URL('../dist/cpu/', import.meta.url));
const text = await workerText(join(folder, 'worker.js'));
writeFileSync(
  join(folder, 'threads', 'worker-source.js'),
  `export const workerSource = ${JSON.stringify(text)};\n`,
);
