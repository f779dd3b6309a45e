import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileKernels } from '../rdna/compile.ts';
import { radvEnvironment } from '../rdna/radv.ts';
import { rdnaRows } from '../rdna/table.ts';
import { type Suite, UsageError } from '../suite/suite.ts';

/** Tiles for AMD as Mesa's RDNA compiler sees them, on a machine without such a GPU. */
export const rdna: Suite = {
  name: 'rdna',
  summary:
    "the baseline tile (old) and the tile for AMD (new): what the cost model predicts, and what Mesa's compiler for RDNA reports without the hardware; times are relative to the old tile",
  options: {
    family: { value: 'NAME', meaning: "the GPU family to compile for, by Mesa's name; default navi31" },
    compile: { meaning: 'only compile, in the process that the suite starts' },
  },
  async run({ family = 'navi31', compile }, progress) {
    if (compile) {
      await compileKernels();
      return [];
    }
    const environment = radvEnvironment(String(family));
    if (typeof environment === 'string') {
      progress('');
      return [{ skipped: environment }];
    }
    progress(`compiling for ${family}`);
    const { status, printed } = compileIn(environment);
    const rows = rdnaRows(printed, String(family));
    if (rows.length > 0) return rows;
    throw new UsageError(`Mesa compiled nothing for ${family} (exit ${status}): ${printed.slice(-300)}`);
  },
};

/**
 * Compiles in another process. Standard error goes to a file, because Mesa loses output that a full pipe
 * refuses.
 */
function compileIn(environment: Readonly<Record<string, string>>) {
  const file = join(mkdtempSync(join(tmpdir(), 'tilewise-rdna-')), 'printed.txt');
  const output = openSync(file, 'w');
  try {
    const { status } = spawnSync(process.execPath, [process.argv[1], 'rdna', '--compile'], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', output],
      timeout: 600_000,
    });
    return { status, printed: readFileSync(file, 'utf8') };
  } finally {
    closeSync(output);
    rmSync(dirname(file), { recursive: true });
  }
}
