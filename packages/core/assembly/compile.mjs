// Compiles the kernels of this folder, with and without relaxed SIMD, and writes them as hexadecimal into the
// sources of the package. Run it in packages/core after every change here; a test fails if it was forgotten:
//   node assembly/compile.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const folder = fileURLToPath(new URL('.', import.meta.url));
/**
 * The generated source files: the modules of attention, of the primitives, and of passes over small
 * heads, which call the kernels of attention. All work on one memory, so their constants, if any, have
 * addresses of their own.
 */
const generated = [
  { file: 'kernel-binaries.ts', entry: 'index.ts', constantsAt: 64, text: textOfVariants },
  { file: 'operation-binaries.ts', entry: 'operations.ts', constantsAt: 1024, text: textOfVariants },
  { file: 'heads-binary.ts', entry: 'heads/index.ts', constantsAt: 1536, text: textOfOne },
];

/** The texts of the generated source files, by name. */
export async function compileKernels() {
  const texts = {};
  for (const module of generated) texts[module.file] = await module.text(module);
  return texts;
}

const HEADING = '// Made by assembly/compile.mjs from the sources beside it.';

async function textOfVariants(module) {
  return `${HEADING}

/** The kernels for hosts with relaxed SIMD, which may fuse multiply-add. */
export const relaxedSimdBinary: string =
  '${await compile(module, ['--enable', 'relaxed-simd'])}';

/** The kernels for hosts with SIMD. */
export const simdBinary: string =
  '${await compile(module, [])}';
`;
}

async function textOfOne(module) {
  return `${HEADING}

/** The passes over small heads. */
export const headsBinary: string =
  '${await compile(module, [])}';
`;
}

async function compile({ entry, constantsAt }, features) {
  let binary;
  const options = [entry, '--outFile', 'kernels.wasm', '-O3s', '--converge', '--noAssert'];
  const target = [
    '--runtime',
    'stub',
    '--use',
    'abort=',
    '--memoryBase',
    `${constantsAt}`,
    '--enable',
    'simd',
  ];
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await compileKernels())) {
    writeFileSync(join(folder, '../src/cpu/kernels/wasm', file), text);
  }
}
