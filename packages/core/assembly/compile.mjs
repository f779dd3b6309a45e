// Compiles the kernels of this folder, with and without relaxed SIMD, and writes them as hexadecimal into the
// sources of the package.
//   node assembly/compile.mjs     (in packages/core, after every change here; a test says when it was
// forgotten)
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const folder = fileURLToPath(new URL('.', import.meta.url));
const generated = join(folder, '../src/cpu/kernels/wasm-binaries.ts');

/** The text of the generated source file. */
export async function compileKernels() {
  return `// Made by assembly/compile.mjs from the sources beside it.

/** The kernels for hosts with relaxed SIMD, which may fuse multiply-add. */
export const relaxedSimdBinary: string =
  '${await compile(['--enable', 'relaxed-simd'])}';

/** The kernels for hosts with SIMD. */
export const simdBinary: string =
  '${await compile([])}';
`;
}

async function compile(features) {
  let binary;
  const options = ['index.ts', '--outFile', 'kernels.wasm', '-O3s', '--converge', '--noAssert'];
  const target = ['--runtime', 'stub', '--use', 'abort=', '--memoryBase', '64', '--enable', 'simd'];
  const memory = ['--enable', 'threads', '--importMemory', '--sharedMemory', '--maximumMemory', '65536'];
  const { error, stderr } = await asc.main(
    [...options, ...target, ...memory, ...features, '--baseDir', folder],
    {
      writeFile: (_name, contents) => {
        binary = contents;
      },
    },
  );
  if (error) throw new Error(`${error.message}\n${stderr}`);
  return Buffer.from(binary).toString('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(generated, await compileKernels());
